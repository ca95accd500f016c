/**
 * One run: what it is and came to, and its views.
 *
 * Boundary: follows the run's events to know when there is news; what they mean is the server's (`../src/runs/`).
 */
import { type ComponentChildren, type FunctionComponent, h } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { RunView } from "../src/wire/runs.ts";
import { at, listen } from "./api.ts";
import { count, Empty, Fact, line, Loading, money, Place, said, short, State, Table, Told, time, Trouble, When } from "./parts.ts";
import { to, useData, useNow, useTitle } from "./place.ts";
import { Plans } from "./plan.ts";
import { Prompts } from "./prompts.ts";
import { Trace } from "./trace.ts";
import { Value, Why } from "./value.ts";

/** At most so often is the run asked for again while it goes on, milliseconds. */
const EVERY = 500;
/** A longer hint is folded, characters. */
const MAX_HINT = 320;
/** A run that waits or was interrupted may be gone on with elsewhere. */
const AGAIN = 3000;

export interface RunProps {
    readonly run: RunView;
    /** Changes when there is news. */
    readonly version: number;
}

const VIEWS: readonly { readonly name: string; readonly title: string; readonly view: FunctionComponent<RunProps> }[] = [
    { name: "overview", title: "Overview", view: Overview },
    { name: "trace", title: "Trace", view: (props) => h(Trace, { ...props, timeline: false }) },
    { name: "timeline", title: "Timeline", view: (props) => h(Trace, { ...props, timeline: true }) },
    { name: "prompts", title: "Prompts", view: Prompts },
    { name: "plan", title: "Plan", view: Plans },
];

export function Run({ id, view }: { readonly id: string; readonly view: string }): ComponentChildren {
    const [version, setVersion] = useState(0);
    const { data: run, refused } = useData<RunView>(at("runs", id), version);
    useNews(id, run?.events, () => setVersion((n) => n + 1));
    useTitle(run === null ? "Run" : `${line(run.file)} ${run.state}`);
    const shown = VIEWS.find(({ name }) => name === view) ?? VIEWS[0];
    return h(
        "div",
        { class: "page run" },
        h(
            "div",
            { class: "pagehead" },
            h("h1", { tabIndex: -1 }, run === null ? "Run" : h("span", { class: "mono" }, line(run.file))),
            run === null ? null : h(State, { state: run.state }),
            h("code", { class: "soft" }, line(id)),
        ),
        h(Told, { text: run === null ? "" : `The run is ${run.state}` }),
        h(Trouble, { refused }),
        run === null ? (refused === null ? h(Loading, null) : null) : h(Facts, { run }),
        run?.failure === undefined ? null : h(Failure, { failure: run.failure }),
        run === null || run.waits.length === 0 ? null : h(Waits, { run }),
        h(
            "nav",
            { class: "tabs", "aria-label": "Views of the run" },
            VIEWS.map(({ name, title }) =>
                h("a", { key: name, href: to("runs", id, name), "aria-current": name === shown?.name ? "page" : undefined }, title),
            ),
        ),
        run === null || shown === undefined ? null : h(shown.view, { key: `${id} ${shown.name}`, run, version }),
    );
}

/**
 * Tells when something happened after the first `events`; undefined while the run is not known yet. A page that is not looked at follows nothing: a
 * browser has few connections to a server.
 */
function useNews(id: string, events: number | undefined, onNews: () => void): void {
    const known = useRef({ events, onNews });
    known.current = { events, onNews };
    const isKnown = events !== undefined;
    useEffect(() => {
        if (!isKnown) return;
        let close = (): void => undefined;
        let [timer, again] = [0, 0];
        const news = (): void => {
            if (timer !== 0) return;
            timer = window.setTimeout(() => {
                timer = 0;
                known.current.onNews();
            }, EVERY);
        };
        const leave = (): void => {
            close();
            clearTimeout(again);
            clearTimeout(timer);
            timer = 0;
        };
        const follow = (): void => {
            leave();
            if (document.hidden) return;
            close = listen(`${at("runs", id, "events")}?from=${known.current.events ?? 0}`, ["ended"], {
                link: () => undefined,
                event: (name, data) => {
                    news();
                    if (name !== "ended") return;
                    close();
                    const { status } = data as { readonly status: string };
                    if (status !== "done") again = window.setTimeout(follow, AGAIN);
                },
            });
        };
        follow();
        document.addEventListener("visibilitychange", follow);
        return () => {
            document.removeEventListener("visibilitychange", follow);
            leave();
        };
    }, [id, isKnown]);
}

function Facts({ run }: { readonly run: RunView }): ComponentChildren {
    const isLive = run.state === "running";
    const now = useNow(isLive);
    const { input, cached, output, usd, turns } = run.total;
    const wall = (run.ended === null ? now : Date.parse(run.ended)) - Date.parse(run.started);
    return h("dl", { class: "facts across" }, [
        h(Fact, { name: "started", children: h(When, { at: run.started }) }),
        h(Fact, { name: isLive ? "so far" : "took", children: time(isLive ? wall : run.spent) }),
        h(Fact, { name: "steps", children: count(run.steps) }),
        h(Fact, { name: "effects", children: count(run.effects) }),
        h(Fact, { name: "model turns", children: count(turns) }),
        turns === 0 && input + output === 0
            ? null
            : h(Fact, {
                  name: "tokens",
                  children: `${count(input)} in${cached ? ` (${count(cached)} cached)` : ""}, ${count(output)} out`,
              }),
        h(Fact, { name: "cost", children: turns === 0 ? "none" : money(usd) }),
    ]);
}

function Failure({ failure }: { readonly failure: NonNullable<RunView["failure"]> }): ComponentChildren {
    return h(
        "div",
        { class: "answer failed" },
        h("p", null, h("strong", null, line(failure.kind)), ": ", said(failure.message)),
        h(Place, { site: failure.site }),
        failure.source === undefined ? null : h("pre", { class: "source" }, said(failure.source.trim())),
        failure.hint === undefined ? null : h(Hint, { text: said(failure.hint) }),
    );
}

/** What a server wrote before it ended may be long. */
function Hint({ text }: { readonly text: string }): ComponentChildren {
    if (text.length <= MAX_HINT) return h("p", { class: "soft" }, text);
    return h("details", { class: "soft" }, h("summary", null, short(text, MAX_HINT / 2)), h("p", null, text));
}

/** What the run waits for, and where that is answered. */
function Waits({ run }: { readonly run: RunView }): ComponentChildren {
    const session = /^(session-.+)\.[^.]+$/.exec(run.id)?.[1];
    return h(
        "section",
        { class: "answer waits", "aria-label": "What the run waits for" },
        run.waits.map(({ id, question, expires }) =>
            h(
                "div",
                { key: id },
                h("p", null, h("strong", null, "Waits for an answer"), ": ", said(question)),
                session === undefined
                    ? h("pre", { class: "source" }, `remit answer ${line(run.id)} ${line(id)} once\nremit resume ${line(run.id)}`)
                    : h("p", null, h("a", { href: to("sessions", session) }, "Answer it in the session")),
                h("p", { class: "soft" }, "until ", h(When, { at: expires })),
            ),
        ),
    );
}

function Overview({ run }: RunProps): ComponentChildren {
    const [where, setWhere] = useState<string | null>(null);
    const isFailed = run.state === "failed";
    return h(
        "div",
        { class: "two" },
        h(
            "section",
            { "aria-labelledby": "value" },
            h("h2", { id: "value" }, "Value"),
            run.value === undefined
                ? h(Empty, null, isFailed ? "It failed, so it has none." : "It has none yet.")
                : h(
                      "div",
                      { class: "card" },
                      h("p", { class: "soft" }, "Choose a part to see where it came from."),
                      h(Value, { value: run.value, chosen: where, onWhy: setWhere }),
                  ),
            isFailed ? h("button", { type: "button", onClick: () => setWhere("") }, "What led to the failure?") : null,
            where === null ? null : h(Why, { key: where, run: run.id, where, onClose: () => setWhere(null) }),
        ),
        h(
            "section",
            { "aria-labelledby": "cost" },
            h("h2", { id: "cost" }, "Cost"),
            run.models.length === 0
                ? h(Empty, null, "No model was called.")
                : h(Table, {
                      name: "Cost by model",
                      head: ["model", "turns", "in", "cached", "out", "cost"],
                      numbersFrom: 1,
                      rows: run.models.map((one) =>
                          h(
                              "tr",
                              { key: `${one.model} ${one.answered}` },
                              h(
                                  "td",
                                  { class: "mono" },
                                  line(one.model),
                                  one.answered === undefined ? null : h("span", { class: "soft" }, ` answered by ${line(one.answered)}`),
                              ),
                              [one.turns, one.input, one.cached, one.output].map((n, i) => h("td", { key: i, class: "number" }, count(n))),
                              h("td", { class: "number" }, money(one.usd)),
                          ),
                      ),
                  }),
        ),
    );
}
