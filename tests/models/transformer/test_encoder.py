"""The encoder's output, as fairseq's generator handles it."""

import torch

from tests.support.small_networks import PAD, batch, method, network, shape


def test_every_decoder_layer_gets_a_memory_and_equal_ones_are_one_tensor():
    model = network(method("static", ()), shape(encoder_layers=2, decoder_layers=4)).for_task(0)
    source, _, _ = batch([(5, 4), (3, 6)])
    encoded = model.encoder(source)
    memories = encoded["encoder_out"]
    assert len(memories) == 4
    assert len({id(memory) for memory in memories}) == 1
    assert memories[0].shape == (5, 2, 16)
    assert torch.equal(encoded["encoder_padding_mask"][0], source.eq(PAD))


def test_embeddings_are_scaled_by_the_root_of_the_width_and_positions_are_not():
    encoder, outputs = network(method("static", ())).for_task(0).encoder, []
    encoder.observer = outputs.extend
    source, _, _ = batch([(5, 4), (3, 6)])
    encoder(source)
    expected = 4 * encoder.embed_tokens.weight[source] + encoder.embed_positions(source)
    assert torch.allclose(outputs[0], expected.transpose(0, 1))


def test_sentences_of_an_encoded_batch_can_be_chosen():
    model = network(method("static", ())).for_task(0)
    source, _, _ = batch([(5, 4), (3, 6)])
    encoded = model.encoder(source)
    order = torch.tensor([1, 1, 0])
    chosen = model.encoder.reorder_encoder_out(encoded, order)
    assert torch.equal(chosen["encoder_out"][0], encoded["encoder_out"][0][:, order])
    assert torch.equal(chosen["encoder_padding_mask"][0], source.eq(PAD)[order])
    assert len({id(memory) for memory in chosen["encoder_out"]}) == 1
