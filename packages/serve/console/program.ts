/** The program that is served, who may do what in it, and the models that can be used. */
import { type ComponentChildren, h } from "preact";
import type { ModelsView, ProgramView } from "../src/wire/runs.ts";
import { at } from "./api.ts";
import { Empty, line, Loading, Table, Trouble } from "./parts.ts";
import { useData, useTitle } from "./place.ts";

export function Program(): ComponentChildren {
    useTitle("Program");
    const { data, refused } = useData<ProgramView>(at("program"));
    return h(
        "div",
        { class: "page" },
        h(
            "div",
            { class: "pagehead" },
            h("h1", { tabIndex: -1 }, data === null ? "Program" : h("span", { class: "mono" }, line(data.file))),
        ),
        refused?.status === 404 ? h(Empty, null, "This server shows a ledger and runs no program.") : h(Trouble, { refused }),
        data === null ? (refused === null ? h(Loading, null) : null) : h(Authority, { data }),
        h(Models, null),
    );
}

function Authority({ data }: { readonly data: ProgramView }): ComponentChildren {
    const gate = data.head.indexOf("gate");
    return h(
        "section",
        { "aria-labelledby": "authority" },
        h("h2", { id: "authority" }, "Who may do what"),
        h(Table, {
            name: "Table of authority",
            head: data.head,
            rows: data.rows.map((row, i) =>
                h(
                    "tr",
                    { key: i },
                    row.map((cell, j) =>
                        h("td", { key: j, class: j === gate ? `gate-${cell.replace(/[^a-z]/g, "")}` : j === 1 ? "mono" : "" }, line(cell)),
                    ),
                ),
            ),
        }),
    );
}

function Models(): ComponentChildren {
    const { data, refused } = useData<ModelsView>(at("models"));
    return h(
        "section",
        { "aria-labelledby": "models" },
        h("h2", { id: "models" }, "Models"),
        h(Trouble, { refused }),
        data === null
            ? refused === null
                ? h(Loading, null)
                : null
            : h("p", { class: "soft" }, "Where no model is named: ", line(data.chosen.text)),
        data === null
            ? null
            : h(
                  "ul",
                  { class: "models" },
                  data.models.map((one) =>
                      h(
                          "li",
                          { key: one.uri },
                          h(
                              "span",
                              { class: `state ${one.ok ? "done" : "stopped"}` },
                              h("i", { "aria-hidden": "true" }),
                              one.ok ? "ready" : "not ready",
                          ),
                          h("code", null, line(one.uri)),
                          h("span", { class: "soft" }, line(one.note)),
                      ),
                  ),
              ),
    );
}
