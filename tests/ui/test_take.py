"""Take away: the address, saved states, and tables from elsewhere."""

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attnviz import PRESETS, run
from attnviz.core import edit
from attnviz.core.resize import resize
from attnviz.files import from_json, imports, scenario_json, store, to_json
from attnviz.files.exports import FORMATS_OUT
from attnviz.files.link import decode, encode
from attnviz.ui import address
from attnviz.ui.page import LAST_GOOD, VIEWS
from tests.files.test_packed import wide
from tests.ui.test_script import APP, START, go, notes, press, problem, scenario, trace
from tests.ui.test_script import edit as type_in
from tests.ui.test_views import charts, open_view, words

EDITED = edit.set_cells(START, "w_q", {(1, 0, 0): 0.1 + 0.2})[0]


def opened(**parts: str) -> AppTest:
    test = AppTest.from_file(APP, default_timeout=30)
    for name, value in parts.items():
        test.query_params[name] = value
    go(test)
    return test


def parts(app: AppTest) -> dict[str, str]:
    return {
        name: value[-1] if isinstance(value, list) else value
        for name, value in app.query_params.items()
    }


def again(app: AppTest) -> AppTest:
    """Another visit of the address."""
    return opened(**parts(app))


@pytest.fixture
def app() -> AppTest:
    return opened()


def upload(app: AppTest, field: str, name: str, data: bytes) -> None:
    uploader = next(u for u in app.file_uploader if str(u.key).startswith(field))
    uploader.set_value((name, data, "application/octet-stream"))
    go(app)


def archive(**arrays: Any) -> bytes:
    data = io.BytesIO()
    np.savez(data, **arrays)
    return data.getvalue()


def test_the_address_knows_every_view() -> None:
    assert address.SETTINGS["view"] == tuple(VIEWS)


def test_a_new_page_has_a_bare_address(app: AppTest) -> None:
    assert parts(app) == {}
    type_in(app, "w_q_1", {0: {"d0": "7"}})
    assert "s" in parts(app)
    press(app, "undo")
    assert parts(app) == {}


def test_an_edit_is_in_the_address_bit_for_bit(app: AppTest) -> None:
    type_in(app, "w_q_1", {0: {"d0": "0.30000000000000004"}})
    assert len(parts(app)["s"]) < 200
    back = again(app)
    assert scenario(back).same(EDITED)
    for key, array in trace(app).values.arrays.items():
        assert trace(back)[key].tobytes() == array.tobytes()


def test_place_and_settings_are_in_the_address(app: AppTest) -> None:
    app.segmented_control(key="heads").set_value("head 1")
    app.selectbox(key="decimals").set_value("4")
    app.radio(key="tokens_as").set_value("columns")
    app.pills(key="token").set_value("league")
    go(app)
    open_view(app, "Step by step")
    app.segmented_control(key="step").set_value(4)
    go(app)
    back = again(app)
    now, then = back.session_state["attnviz"], app.session_state["attnviz"]
    assert (now.chosen.key, now.chosen.index) == (then.chosen.key, then.chosen.index)
    assert now.chosen.key == "scores"
    assert (now.head, now.token) == (0, 1)
    assert back.segmented_control(key="view").value == "Step by step"
    assert back.segmented_control(key="one_head").value == "head 1"
    assert back.selectbox(key="decimals").value == "4"
    assert back.radio(key="tokens_as").value == "columns"
    assert parts(back) == parts(app)


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ({"heads": "1", "cell": "attention.1.0.0"}, "head 2"),
        ({"heads": "1", "cell": "output.0.0"}, "head 1"),
        ({"heads": "9", "cell": "k.1.0.0"}, "head 2"),
        ({"heads": "all", "cell": "attention.0.0.0"}, "all heads"),
        ({"cell": "attention.0.0.0"}, "all heads"),
    ],
)
def test_a_link_opens_its_cell_whatever_heads_it_asks_for(
    asked: dict[str, str], shown: str
) -> None:
    now = opened(**asked)
    key, *index = asked["cell"].split(".")
    chosen = now.session_state["attnviz"].chosen
    assert (chosen.key, chosen.index) == (key, tuple(map(int, index)))
    assert now.segmented_control(key="heads").value == shown


def test_a_link_to_a_cell_of_a_head_that_has_a_thumbnail_shows_that_head_in_full() -> None:
    scenario = edit.set_text(START, "the quick brown fox jumps")[0]
    now = opened(s=encode(scenario), cell="attention.1.0.0")
    assert now.session_state["attnviz"].chosen.index == (1, 0, 0)
    assert now.segmented_control(key="heads").value == "head 2"


def test_a_prepared_slide_opens_for_the_projector() -> None:
    app = opened(presenting="true", cell="output.1.2", head="1")
    assert app.session_state["attnviz"].chosen.key == "output"
    assert list(charts(app)) == [key for key in charts(app) if key.startswith("step")]
    app.button(key="step_back").click().run()
    press(app, "step_back")
    assert "head 1 of 2" in words(app)
    assert list(charts(app)) == [key for key in charts(app) if key.startswith("step")]


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_in_the_address(app: AppTest, name: str) -> None:
    app.selectbox(key="preset").set_value(name)
    go(app)
    assert scenario(again(app)).same(PRESETS[name])


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"s": encode(EDITED)[:-4]}, "damaged"),
        ({"s": "x"}, "damaged"),
        ({"s": ""}, "damaged"),
        ({"s": "9abc"}, "newer"),
        ({"id": "../../etc"}, "no id of a state"),
        ({"id": "0" * 32}, "not kept here"),
        ({"view": "nowhere"}, "“nowhere”"),
    ],
)
def test_a_damaged_address_opens_the_default_and_says_so(bad: Mapping[str, str], said: str) -> None:
    app = opened(**bad)
    assert scenario(app).same(START)
    assert said in problem(app)
    assert "address" in words(app)


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        ({"cell": "attention.9.9.9"}, "cell “attention.9.9.9”"),
        ({"cell": "no.1"}, "cell “no.1”"),
        ({"cell": "attention"}, "cell “attention”"),
        ({"cell": "attention." + "9" * 400}, "cell “attention.999"),
        ({"heads": "9"}, "heads “9”"),
        ({"heads": "x"}, "heads “x”"),
        ({"head": "99999"}, "head “99999”"),
        ({"head": "-1"}, "head “-1”"),
        ({"token": "9"}, "token “9”"),
        ({"token": "٣"}, "token “٣”"),
        ({"rows": "two"}, "rows “two”"),
        ({"rows": "99"}, ""),
        ({"decimals": "7"}, "decimals “7”"),
        ({"compared": "nothing"}, "compared “nothing”"),
        ({"unknown": "1"}, ""),
    ],
)
def test_odd_places_do_no_harm_and_are_told(odd: Mapping[str, str], said: str) -> None:
    app = opened(**odd)
    assert scenario(app).same(START)
    assert problem(app) == "" if not said else f"The address asks for {said}" in problem(app)
    assert problem(app).count("there is none.") == bool(said)
    go(app)
    press(app, "present")
    assert problem(app).count("there is none.") == bool(said)


def test_the_last_good_state_is_spoken_of_where_there_was_one() -> None:
    for odd in ({"s": "x"}, {"view": "nowhere"}, {"token": "9"}):
        assert LAST_GOOD not in words(opened(**odd))
    app = opened()
    type_in(app, "w_q_1", {0: {"d0": "x"}})
    assert LAST_GOOD in words(app)


def test_shown_rows_and_the_compared_stage_come_back(app: AppTest) -> None:
    open_view(app, "Step by step")
    for _ in range(3):
        press(app, "reveal")
    assert parts(app)["rows"] == "2"
    assert again(app).session_state["attnviz"].revealed == 2
    assert parts(again(app)) == parts(app)
    open_view(app, "Compare")
    press(app, "pin")
    app.segmented_control(key="compared").set_value("q")
    go(app)
    assert parts(app)["compared"] == "q"
    back = again(app)
    assert back.segmented_control(key="compared").value == "q"
    assert parts(back) == parts(app)


def large() -> Any:
    numbers = np.random.RandomState(0).standard_normal((2, 64, 32))
    cells = {index: float(numbers[index]) for index in np.ndindex(*numbers.shape)}
    return edit.set_cells(resize(START, d_model=64, d_k=32)[0], "w_q", cells)[0]


def test_a_large_state_is_kept_under_an_id(app: AppTest) -> None:
    wanted = large()
    open_view(app, "Take away")
    upload(app, "open", "large.json", to_json(wanted))
    assert parts(app).keys() == {"view", "id"}
    assert scenario(again(app)).same(wanted)
    assert "opens on this machine" in words(app)
    go(app)
    assert len(list(store.folder().iterdir())) == 1


def test_a_large_state_that_cannot_be_kept_is_told_of(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: bytes) -> str:
        raise OSError

    monkeypatch.setattr(store, "put", fail)
    open_view(app, "Take away")
    upload(app, "open", "large.json", to_json(large()))
    assert "too large for the address" in notes(app)
    assert parts(app) == {"view": "take-away"}


def test_a_layer_of_bert_is_kept_and_can_be_saved(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: list[Any] = []
    monkeypatch.setattr(address, "encode", lambda s: encoded.append(s) or encode(s))
    app.session_state["attnviz"].take((wide(), ""))
    open_view(app, "Take away")
    save = next(b.proto for b in app.get("download_button") if b.proto.label == "Save")
    assert not save.disabled
    assert "id" in parts(app)
    before = parts(app)
    app.selectbox(key="decimals").set_value("4")
    go(app)
    assert parts(app) == {**before, "decimals": "4"}
    assert len(encoded) == 1
    back = again(app)
    assert scenario(back).same(wide())
    assert notes(back) == ""


def test_what_cannot_be_saved_or_kept_is_said(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scenario_json, "MAX_VALUES", 5_000)
    monkeypatch.setattr(store, "MAX_BYTES", 50_000)
    app.session_state["attnviz"].take((large(), ""))
    open_view(app, "Take away")
    save = next(b.proto for b in app.get("download_button") if b.proto.label == "Save")
    assert save.disabled
    assert "saved file: it would become too large to be opened again" in words(app)
    assert "a reload loses it" in notes(app)
    assert not list(store.folder().iterdir())


@pytest.mark.parametrize("large_first", [False, True])
def test_what_is_compared_with_comes_back(app: AppTest, large_first: bool) -> None:
    if large_first:
        app.session_state["attnviz"].take((large(), ""))
        go(app)
    pinned = scenario(app)
    open_view(app, "Compare")
    press(app, "pin")
    type_in(app, "w_q_1", {0: {"d0": "7"}})
    assert ("aid" if large_first else "a") in parts(app)
    back = again(app)
    assert scenario(back).same(scenario(app))
    found, computed = back.session_state["attnviz"].pinned
    assert found.same(pinned)
    assert computed["output"].tobytes() == run(pinned)["output"].tobytes()
    assert "W_Q head 2, row d0, column d0" in words(back)
    assert parts(back) == parts(app)


def test_a_damaged_state_to_compare_with_leaves_the_rest() -> None:
    app = opened(s=encode(EDITED), a="1damaged", view="compare")
    assert scenario(app).same(EDITED)
    assert problem(app).startswith("The state to compare with cannot be opened: link: ")
    assert app.session_state["attnviz"].pinned is None


def test_every_format_has_a_button_and_its_line(app: AppTest) -> None:
    open_view(app, "Take away")
    labels = [button.proto.label for button in app.get("download_button")]
    assert labels == [*(entry.label for entry in FORMATS_OUT.values()), "Save"]
    for entry in FORMATS_OUT.values():
        assert entry.says in words(app)


def test_the_difference_of_a_comparison_can_be_taken(app: AppTest) -> None:
    open_view(app, "Compare")
    press(app, "pin")
    type_in(app, "w_q_1", {0: {"d0": "7"}})
    open_view(app, "Take away")
    buttons = {b.proto.label: b.proto for b in app.get("download_button")}
    assert not buttons["CSV of B − A"].disabled
    app.text_area(key="text").set_value("other words")
    go(app)
    buttons = {b.proto.label: b.proto for b in app.get("download_button")}
    assert buttons["CSV of B − A"].disabled
    assert "A and B have different shapes" in words(app)


def test_what_a_format_cannot_hold_is_refused_before(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attnviz.files.exports.script.MAX_NUMBERS", 10)
    open_view(app, "Take away")
    off = [button.proto.label for button in app.get("download_button") if button.proto.disabled]
    assert off == ["NumPy script", "PyTorch script", "Jupyter notebook"]
    assert "too many numbers for a script" in words(app)


def test_the_picture_follows_the_stage(app: AppTest) -> None:
    open_view(app, "Take away")
    for key in trace(app).values.arrays:
        app.selectbox(key="taken").set_value(key)
        go(app)
        assert len(charts(app)) == 1


def test_cameras_stay_in_every_view_and_run_and_come_back(app: AppTest) -> None:
    open_view(app, "Take away")
    app.toggle(key="cameras").set_value(True)
    app.segmented_control(key="camera").set_value("SVG")
    go(app)
    for view in VIEWS:
        open_view(app, view)
        go(app)
        for visit in (app, again(app)):
            assert {c["displayModeBar"] for c in cameras(visit)} <= {"hover", True}
            assert {c["toImageButtonOptions"]["format"] for c in cameras(visit)} <= {"svg"}
    open_view(app, "Explore")
    press(app, "present")
    press(app, "leave")
    assert [c["displayModeBar"] for c in cameras(app)] == ["hover"] * len(charts(app))


def cameras(app: AppTest) -> list[Any]:
    return [json.loads(chart.proto.config) for chart in app.get("plotly_chart")]


def test_a_saved_state_opens_and_can_be_undone(app: AppTest) -> None:
    open_view(app, "Take away")
    upload(app, "open", "mine.json", to_json(EDITED))
    assert scenario(app).same(EDITED)
    assert "Opened mine.json." in notes(app)
    press(app, "undo")
    assert scenario(app).same(START)


def test_fields_for_files_state_the_limit_that_holds(app: AppTest) -> None:
    open_view(app, "Take away")
    most = {f.key.rsplit("_")[0]: f.proto.max_upload_size_mb * 2**20 for f in app.file_uploader}
    for field, limit in (("open", scenario_json.MAX_BYTES), ("import", imports.MAX_BYTES)):
        assert 0.9 * limit < most[field] <= limit
    said = next(f.proto.help for f in app.file_uploader if f.key.startswith("import"))
    assert imports.LIMITS in said
    assert "\n".join(imports.ONE_LAYER) in said
    assert most["import"] == imports.MAX_MEGABYTES * 2**20


@pytest.mark.parametrize("data", [b"", b"{}", b"[1, 2]", to_json(EDITED)[:-9], b"\x80\x04."])
def test_a_file_that_is_no_state_leaves_all_as_it_is(app: AppTest, data: bytes) -> None:
    open_view(app, "Take away")
    upload(app, "open", "bad.json", data)
    assert scenario(app).same(START)
    assert "bad.json" in problem(app)


def test_the_link_opens_what_it_says(app: AppTest) -> None:
    type_in(app, "w_q_1", {0: {"d0": "0.30000000000000004"}})
    open_view(app, "Take away")
    app.segmented_control(key="link_opens").set_value("Present")
    go(app)
    link = app.code[0].value
    assert "presenting=true" in link
    text = next(p for p in link.partition("?")[2].split("&") if p.startswith("s="))
    assert decode(text[2:]).same(EDITED)
    assert "Opens walkthrough: “major league baseball”, 2 heads, d_model 4" in words(app)


def test_a_layer_is_found_and_used(app: AppTest) -> None:
    rng = np.random.RandomState(1)
    tables = {
        "in_proj_weight": rng.standard_normal((18, 6)),
        "in_proj_bias": rng.standard_normal(18),
        "out_proj.weight": rng.standard_normal((6, 6)),
        "out_proj.bias": rng.standard_normal(6),
    }
    open_view(app, "Take away")
    upload(app, "import", "layer.npz", archive(**tables))
    assert "in_proj_weight18 × 6" in words(app).replace("</td>", "").replace("<td>", "").replace(
        "</th>", ""
    )
    assert "does not say how many heads" in words(app)
    app.selectbox(key="layer_heads").set_value(3)
    go(app)
    press(app, "use_layer")
    assert problem(app) == ""
    params = scenario(app).params
    assert params.w_q.shape == (3, 6, 2)
    np.testing.assert_array_equal(params.w_q[1], tables["in_proj_weight"][2:4].T)
    press(app, "undo")
    assert scenario(app).same(START)


def test_one_table_goes_where_it_is_told(app: AppTest) -> None:
    open_view(app, "Take away")
    upload(app, "import", "one.csv", b"1,2,3,4\n5,6,7,8\n")
    app.selectbox(key="one_into").set_value(("w_k", 0))
    go(app)
    assert "expected 4 × 2, got 2 × 4" in words(app)
    assert "Transposed it does." in words(app)
    app.toggle(key="one_turned").set_value(True)
    go(app)
    press(app, "put_in")
    np.testing.assert_array_equal(scenario(app).params.w_k[0], [[1, 5], [2, 6], [3, 7], [4, 8]])
    np.testing.assert_array_equal(scenario(app).params.w_k[1], START.params.w_k[1])
    press(app, "undo")
    press(app, "discard")
    assert scenario(app).same(START)
    assert app.session_state["attnviz"].found is None


@pytest.mark.parametrize("kind", [bool, float])
def test_a_mask_takes_a_table_of_ones_and_zeros(app: AppTest, kind: type) -> None:
    app.toggle(key="variant_mask").set_value(True)
    go(app)
    open_view(app, "Take away")
    mask = np.tril(np.ones((3, 3)))
    upload(app, "import", "m.npz", archive(mask=mask.astype(kind), other=mask * 2))
    app.selectbox(key="one_name").set_value("mask")
    app.selectbox(key="one_into").set_value(("mask", None))
    go(app)
    press(app, "put_in")
    assert scenario(app).hidden == {(0, 1), (0, 2), (1, 2)}
    app.selectbox(key="one_name").set_value("other")
    go(app)
    assert "a mask holds 1 (may attend) or 0 (hidden) (got 2)" in words(app)


def test_every_table_takes_a_whole_one(app: AppTest) -> None:
    open_view(app, "Take away")
    for name in ("x", "w_q", "w_o"):
        array = np.array(trace(app)[name]) + 1
        upload(app, "import", "one.npz", archive(table=array))
        app.selectbox(key="one_into").set_value((name, None))
        go(app)
        press(app, "put_in")
        np.testing.assert_array_equal(trace(app)[name], array)


@pytest.mark.parametrize(
    ("name", "said"),
    [("model.pt", "never reads pickles"), ("a.npy", "damaged"), ("a.xyz", "not read")],
)
def test_files_that_are_not_read_are_one_sentence(app: AppTest, name: str, said: str) -> None:
    open_view(app, "Take away")
    upload(app, "import", name, b"nonsense")
    assert said in problem(app)
    assert scenario(app).same(START)


def test_saving_is_the_identical_trace(tmp_path: Path) -> None:
    back = run(from_json(to_json(EDITED)))
    for key, array in run(EDITED).values.arrays.items():
        assert back[key].tobytes() == array.tobytes()
