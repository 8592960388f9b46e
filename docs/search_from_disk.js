// Browsers start no worker for a page that is opened from a disk. Here an iframe does its work.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.worker = this;
      const answer = 'postMessage = data => frameElement.worker.dispatchEvent(new MessageEvent("message", {data}))';
      const own = new URL(address, document.baseURI);
      this.frame.srcdoc = `<script>${answer}</` + `script><script src="${own}"></` + "script>";
      this.ready = new Promise(done => this.frame.addEventListener("load", done));
      document.body.append(this.frame);
    }
    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", {data})));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
