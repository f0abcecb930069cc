#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
use super::*;
use serde_json::json;

#[test]
fn cells_and_their_outputs_are_text() {
    let notebook = json!({"nbformat": 4, "metadata": {}, "cells": [
        {"cell_type": "markdown", "source": ["# Title\n", "words"]},
        {"cell_type": "code", "source": "print(1)\n", "outputs": [
            {"output_type": "stream", "name": "stdout", "text": ["1\n"]},
            {"output_type": "display_data", "data": {"text/plain": ["<Figure>"], "image/png": "AAAA"}},
            {"output_type": "error", "ename": "ValueError", "evalue": "bad", "traceback": ["…"]},
            {"output_type": "stream", "text": "x".repeat(5_000)},
        ]},
    ]});
    let text = cells(notebook.to_string().as_bytes()).unwrap();
    let start = "[cell 1, markdown]\n# Title\nwords\n[cell 2, code]\nprint(1)\n[output]\n1\n[output]\n<Figure>\n(image/png)\n[output]\nValueError: bad\n[output]\nxxx";
    assert!(text.starts_with(start), "{text}");
    assert!(text.len() < 1_500 && text.contains("left out here"), "{}", text.len());
}

#[test]
fn what_is_no_notebook_is_left_alone() {
    for text in ["", "{}", "[1]", "{\"cells\": 3}", "not json"] {
        assert_eq!(cells(text.as_bytes()), None, "{text}");
    }
}
