"""The decoder's projection."""

import torch

from tests.support.small_networks import batch, method, network, shape


def test_input_and_output_embeddings_are_one_tensor_where_shared():
    for shared in ("decoder", "none"):
        decoder = network(method("static", ()), shape(tie_embeddings=shared)).decoder
        same = decoder.output_projection.weight is decoder.embed_tokens.weight
        assert same is (shared == "decoder")


def test_source_and_target_embeddings_are_two():
    model = network(method("static", ()))
    assert model.encoder.embed_tokens.weight is not model.decoder.embed_tokens.weight


def test_embeddings_are_scaled_by_the_root_of_the_width_and_positions_are_not():
    model, outputs = network(method("static", ())).for_task(0), []
    decoder = model.decoder
    decoder.observer = outputs.extend
    source, previous, _ = batch([(5, 4), (3, 6)])
    decoder(previous, model.encoder(source))
    expected = 4 * decoder.embed_tokens.weight[previous] + decoder.embed_positions(previous)
    assert torch.allclose(outputs[0], expected.transpose(0, 1))


def test_no_attention_weights_are_returned():
    model = network(method("static", ())).eval().for_task(0)
    source, previous, _ = batch([(5, 4), (3, 6)])
    logits, extra = model.decoder(previous, model.encoder(source))
    assert logits.shape == (2, 6, 23)
    assert extra == {"attn": [None]}
    assert torch.isfinite(logits).all()
