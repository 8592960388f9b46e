// The page works without this: it adds names of cells, arrow keys in tables, Escape, focus, the link and
// citation of a cell, and open details in print.
const grids = [...document.querySelectorAll('table.grid')].map(table =>
  [...table.querySelectorAll('tbody tr')].map(row => [...row.querySelectorAll('td')].map(cell => cell.querySelector('a'))))
const cells = grids.flat(2).filter(Boolean)
const linkOf = hash => cells.find(link => link.hash === hash)
const quote = document.getElementById('quote')
let scroll = 0

// Headings and details of a cell, for readers who cannot see where it is.
const lineOf = link => document.getElementById(link.hash.slice(1))
const wordsOf = line => `${line.parentElement.previousElementSibling.textContent}, ${line.textContent}: ${line.nextElementSibling.firstChild.data.trim()}`
cells.forEach(link => link.setAttribute('aria-label', wordsOf(lineOf(link))))

function follow() {
  // A link to an entry of the deviations opens it.
  const target = document.getElementById(location.hash.slice(1))
  if (target?.matches('details')) target.open = true
  cells.forEach(link => link.removeAttribute('aria-current'))
  if (target?.closest('aside')) target.scrollIntoView({block: 'center', behavior: 'instant'})
  const link = linkOf(location.hash)
  if (!link) return
  link.setAttribute('aria-current', 'true')
  const line = lineOf(link)
  quote.querySelector('button').textContent = 'Copy link'
  quote.querySelector('cite').textContent = `${wordsOf(line).split('; ', 2).join('; ')}. ${quote.dataset.of}`
  quote.hidden = false
  line.nextElementSibling.append(quote)
  link.focus({preventScroll: true})
  if (scroll) scrollTo({top: scroll, behavior: 'instant'})
  link.scrollIntoView({block: 'nearest', inline: 'nearest', behavior: 'instant'})
}

function close() {
  const link = linkOf(location.hash)
  if (document.querySelector('aside :target')) location.hash = 'closed'
  link?.focus({preventScroll: true})
}

addEventListener('keydown', event => {
  if (event.key === 'Escape') return close()
  const step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key]
  const grid = step && grids.find(rows => rows.some(row => row.includes(document.activeElement)))
  if (!grid) return
  const row = grid.findIndex(links => links.includes(document.activeElement))
  const next = grid[row + step[0]]?.[grid[row].indexOf(document.activeElement) + step[1]]
  if (!next) return
  event.preventDefault()
  next.focus()
  scroll = scrollY
  if (linkOf(location.hash)) location.hash = next.hash
})

// Enter opens a cell; Enter again moves into its details; Escape comes back.
cells.forEach(link => link.addEventListener('click', () => {
  scroll = scrollY
  const line = lineOf(link)
  line.tabIndex = -1
  if (link.hash === location.hash) line.focus()
}))
document.querySelector('.close').addEventListener('click', event => {
  event.preventDefault()
  close()
})
quote.querySelector('button').addEventListener('click', async event => {
  const button = event.target
  try {
    await navigator.clipboard.writeText(location.href)
    button.textContent = 'Copied'
  } catch {
    button.textContent = 'Not allowed here: copy the address of the page'
  }
})
addEventListener('hashchange', follow)
addEventListener('load', () => requestAnimationFrame(follow))
addEventListener('beforeprint', () => document.querySelectorAll('main details').forEach(item => { item.open = true }))
