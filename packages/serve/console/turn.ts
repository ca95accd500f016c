/** One turn of a session: what was asked, what is being done, what came of it. */
import { type ComponentChildren, h } from "preact";
import type { TurnInfo } from "../src/wire/messages.ts";
import { pictureAt } from "./api.ts";
import type { Doing, Step } from "./live.ts";
import { line, Origins, said, State, time, When } from "./parts.ts";
import { to, useNow } from "./place.ts";
import { Value } from "./value.ts";
import { Words } from "./words.ts";

interface Props {
    readonly turn: TurnInfo;
    readonly doing: Doing | undefined;
    readonly waits: boolean;
    readonly calls: readonly string[];
    readonly onCancel: (() => void) | null;
}

export function Turn({ turn, doing, waits, calls, onCancel }: Props): ComponentChildren {
    const isOver = turn.ended !== undefined;
    const state = waits ? "waiting" : turn.status;
    return h(
        "li",
        { class: "turn" },
        h(
            "div",
            { class: "you", dir: "auto" },
            turn.text === undefined ? h(Value, { value: turn.input ?? null }) : said(turn.text),
            h(Pictures, { turn }),
        ),
        h(Answer, { turn, doing }),
        h(
            "div",
            { class: "meta" },
            h(State, { state: turn.position === undefined ? state : `queued, place ${turn.position}` }),
            h(Took, { turn }),
            calls.map((tool) => h("span", { class: "soft", key: tool }, "calls ", h("code", { dir: "auto" }, line(tool)))),
            turn.model === undefined ? null : h("span", { class: "soft mono" }, line(turn.model)),
            h(Used, { usage: turn.usage }),
            turn.run === undefined ? null : h("a", { href: to("runs", turn.run) }, "run"),
            h("span", { class: "soft" }, line(turn.by)),
            onCancel === null || isOver ? null : h("button", { type: "button", class: "plain stop", onClick: onCancel }, "Cancel"),
        ),
        doing === undefined || doing.steps.length === 0 ? null : h(Steps, { steps: doing.steps, isOver }),
    );
}

/** What the turn came with. */
function Pictures({ turn }: Pick<Props, "turn">): ComponentChildren {
    if (turn.images === undefined) return null;
    return h(
        "div",
        { class: "pictures" },
        turn.images.map((_, n) =>
            h(Picture, { key: n, n, src: pictureAt("sessions", turn.session, "turns", turn.id, "images", String(n)) }),
        ),
    );
}

function Picture({ n, src }: { readonly n: number; readonly src: string | null }): ComponentChildren {
    if (src === null) return h("span", { class: "soft" }, `picture ${n + 1}`);
    return h("img", { src, alt: `Picture ${n + 1} that came with the turn`, loading: "lazy" });
}

function Answer({ turn, doing }: Pick<Props, "turn" | "doing">): ComponentChildren {
    if (turn.failure !== undefined)
        return h(
            "div",
            { class: "answer failed" },
            h("p", { dir: "auto" }, h("strong", null, line(turn.failure.kind)), ": ", said(turn.failure.message)),
            turn.failure.hint === undefined ? null : h("p", { class: "soft" }, said(turn.failure.hint)),
        );
    if (turn.status === "done")
        return h(
            "div",
            { class: "answer" },
            typeof turn.value === "string" ? h(Words, { text: turn.value }) : h(Value, { value: turn.value ?? null }),
            turn.origins === undefined
                ? null
                : h("div", { class: "from" }, h("span", { class: "soft" }, "from "), h(Origins, { origins: turn.origins })),
        );
    const text = doing?.text.at(-1)?.text ?? "";
    if (text === "" && turn.status !== "running") return null;
    return h("div", { class: "answer going" }, h(Words, { text, isGoing: true }));
}

function Took({ turn }: Pick<Props, "turn">): ComponentChildren {
    const now = useNow(turn.ended === undefined);
    const from = Date.parse(turn.submitted);
    const to = turn.ended === undefined ? Math.max(now, from) : Date.parse(turn.ended);
    return h("span", { class: "soft" }, h(When, { at: turn.submitted }), ` · ${time(to - from)}`);
}

function Used({ usage }: { readonly usage: unknown }): ComponentChildren {
    if (usage === null || typeof usage !== "object") return null;
    const { tokens, usd } = usage as { readonly tokens?: number; readonly usd?: number };
    if (!tokens) return null;
    return h("span", { class: "soft" }, `${tokens.toLocaleString("en")} tokens${usd ? `, $${usd.toFixed(4)}` : ""}`);
}

/** In words of a person who has not read what kinds of events there are. */
function worded({ kind, name, bad }: Step): string {
    switch (kind) {
        case "generate.started":
            return "the model is asked";
        case "generate.ended":
            return bad ? "the model gave no answer" : "the model answered";
        case "tool.started":
            return `calls ${name}`;
        case "tool.ended":
            return bad ? `${name} failed` : `${name} answered`;
        case "policy.denied":
            return `refused: ${name}`;
        default:
            return `${kind} ${name}`;
    }
}

function Steps({ steps, isOver }: { readonly steps: readonly Step[]; readonly isOver: boolean }): ComponentChildren {
    const last = steps.at(-1) as Step;
    return h(
        "details",
        { class: "steps" },
        h(
            "summary",
            null,
            `${steps.length} ${steps.length === 1 ? "step" : "steps"}`,
            isOver ? null : h("span", { class: "soft" }, ` ${line(worded(last))}`),
        ),
        h(
            "ol",
            null,
            steps.slice(-200).map((one, i) => h("li", { key: i, class: one.bad ? "bad" : "", title: line(one.kind) }, line(worded(one)))),
        ),
    );
}
