/**
 * What waits for a person: a call with all that it would do and why it is asked, a question of the program, an effect of which nothing is known.
 *
 * Boundary: shows one question and sends one answer. Who may answer is the server's to say.
 *
 * CAK1: a key answers the topmost question alone, and only once it has been seen for a moment: what was typed before it was there answers nothing.
 */
import { type ComponentChildren, h } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { AskInfo, RoutedAsk } from "../src/wire/messages.ts";
import { at, type Me, ServerRefusal, request } from "./api.ts";
import { type Choice, choiceOf } from "./choices.ts";
import { useKeys } from "./keys.ts";
import { line, Long, Origins, Place, said, time, Trouble } from "./parts.ts";
import { to, useNow } from "./place.ts";
import { Value } from "./value.ts";

/** Before a key counts, milliseconds. */
const SEEN_MS = 500;

interface Props {
    /** Address of the question. */
    readonly place: string;
    readonly ask: Omit<AskInfo, "turn">;
    readonly may: boolean;
    /** The run that asks, where it is no session's. */
    readonly run?: string;
    readonly isFirst: boolean;
    readonly onDone: () => void;
}

export function Asks({
    session,
    asks,
    me,
    onDone,
}: {
    readonly session: string;
    readonly asks: readonly AskInfo[];
    readonly me: Me;
    readonly onDone: () => void;
}): ComponentChildren {
    const may = (ask: AskInfo): boolean =>
        ask.approvers.includes(me.id) && me.scopes.includes(ask.options.length === 0 ? "submit" : "approve");
    return waiting(
        asks.map((ask, i) =>
            h(Ask, { key: ask.id, place: at("sessions", session, "asks", ask.id), ask, may: may(ask), isFirst: i === 0, onDone }),
        ),
    );
}

/** Questions of runs of no session. */
export function RoutedAsks({
    asks,
    me,
    onDone,
}: {
    readonly asks: readonly RoutedAsk[];
    readonly me: Me;
    readonly onDone: () => void;
}): ComponentChildren {
    const may = (ask: RoutedAsk): boolean => ask.may && me.scopes.includes("approve");
    return waiting(
        asks.map((ask, i) =>
            h(Ask, { key: ask.id, place: at("asks", ask.id), ask, may: may(ask), run: ask.run, isFirst: i === 0, onDone }),
        ),
    );
}

function waiting(questions: readonly ComponentChildren[]): ComponentChildren {
    return questions.length === 0 ? null : h("section", { class: "asks", "aria-label": "Waits for you" }, questions);
}

function Ask({ place, ask, may, run, isFirst, onDone }: Props): ComponentChildren {
    const [refused, setRefused] = useState<ServerRefusal | null>(null);
    const [sent, setSent] = useState(false);
    const since = useRef(Number.POSITIVE_INFINITY);
    useEffect(() => {
        since.current = isFirst ? performance.now() : Number.POSITIVE_INFINITY;
    }, [isFirst]);
    const send = async (what: "decision" | "answer", answer: string): Promise<void> => {
        if (sent) return;
        setSent(true);
        try {
            const ack = await request<{ status: string; reason?: string }>("POST", `${place}/${what}`, { [what]: answer });
            if (ack.status === "accepted") return onDone();
            setRefused(new ServerRefusal(200, ack.status, ack.reason ?? ack.status));
            onDone();
        } catch (error) {
            if (!(error instanceof ServerRefusal)) throw error;
            setRefused(error);
            setSent(false);
        }
    };
    const decide = (decision: string): void => void send("decision", decision);
    useKeys(
        isFirst && may
            ? ask.options.flatMap((option) => {
                  const choice = choiceOf(option, ask.call);
                  const run = (): void => {
                      if (performance.now() - since.current > SEEN_MS) decide(option);
                  };
                  return choice === undefined ? [] : [{ key: choice.key, does: line(choice.does), run }];
              })
            : [],
    );
    return h(
        "article",
        { class: "ask card", "aria-labelledby": `ask-${ask.id}` },
        h("header", null, h("h2", { id: `ask-${ask.id}`, dir: "auto" }, said(ask.question)), h(Left, { expires: ask.expires })),
        run === undefined ? null : h("p", { class: "soft" }, "in ", h("a", { href: to("runs", run) }, h("code", null, line(run)))),
        h(Call, { ask }),
        h(Trouble, { refused }),
        may
            ? ask.options.length === 0
                ? h(Answer, { onAnswer: (text: string) => void send("answer", text), sent })
                : [
                      h(
                          "div",
                          { class: "choices", key: "choices" },
                          ask.options.map((option) =>
                              h(Button, { key: option, option, choice: choiceOf(option, ask.call), isFirst, sent, decide }),
                          ),
                      ),
                      h(Lasting, { key: "lasting", ask }),
                  ]
            : h("p", { class: "soft" }, `Decided by ${ask.approvers.map(line).join(", ") || "no client that is known"}.`),
    );
}

function Button({
    option,
    choice,
    isFirst,
    sent,
    decide,
}: {
    readonly option: string;
    readonly choice: Choice | undefined;
    readonly isFirst: boolean;
    readonly sent: boolean;
    readonly decide: (option: string) => void;
}): ComponentChildren {
    return h(
        "button",
        {
            type: "button",
            class: choice?.kind ?? "",
            disabled: sent,
            onClick: () => decide(option),
            title: choice === undefined ? undefined : line(choice.does),
        },
        choice?.name ?? line(option),
        isFirst && choice !== undefined ? h("kbd", { "aria-hidden": "true" }, choice.key) : null,
    );
}

/** What the answers mean that hold beyond this call: no pointer rests on a button of a phone. */
function Lasting({ ask: { options, call } }: Pick<Props, "ask">): ComponentChildren {
    const choices = call === null ? [] : options.flatMap((option) => choiceOf(option, call) ?? []);
    return choices
        .filter(({ lasts }) => lasts === true)
        .map(({ name, does }) => h("p", { key: name, class: "soft small lasting" }, h("strong", null, name), `: ${line(does)}.`));
}

function Left({ expires }: { readonly expires: string }): ComponentChildren {
    const left = Date.parse(expires) - useNow(true);
    return h("span", { class: "soft left" }, left > 0 ? `${time(left)} left, then no` : "its time is up");
}

/** The whole call. */
function Call({ ask }: { readonly ask: Omit<AskInfo, "turn"> }): ComponentChildren {
    const { call, detail } = ask;
    if (call === null) return detail === null ? null : h(Value, { value: detail });
    return h(
        "div",
        null,
        h(
            "dl",
            { class: "call" },
            call.who === "" ? null : [h("dt", null, "who"), h("dd", null, line(call.who))],
            h("dt", null, "what"),
            h(
                "dd",
                null,
                h("code", { class: "strong", dir: "auto" }, line(call.what)),
                call.uri === "" ? null : h("span", { class: "soft" }, ` ${line(call.uri)}`),
                `, chosen by ${line(call.by)}`,
            ),
            call.note === "" ? null : [h("dt", null, "says"), h("dd", null, line(call.note))],
            call.site === null ? null : [h("dt", null, "where"), h("dd", null, h(Place, { site: call.site }))],
            h("dt", null, "why"),
            h(
                "dd",
                { class: call.isFlow ? "flow" : "" },
                call.why.map((one, i) => h("p", { key: i }, line(one))),
                h(Place, { site: call.clause }),
            ),
        ),
        call.args.length === 0
            ? h("p", { class: "soft" }, "no arguments")
            : h(
                  "div",
                  { class: "args" },
                  call.args.map(({ name, value, origins, isAsked, changes }) =>
                      h(
                          "div",
                          { class: `arg ${isAsked ? "asked" : ""}`, key: name },
                          h(
                              "div",
                              { class: "argname" },
                              h("strong", null, line(name)),
                              h("span", { class: "soft" }, " from "),
                              h(Origins, { origins }),
                          ),
                          changes === undefined ? null : h(Long, { text: changes, most: 2400 }),
                          changes !== undefined
                              ? h("details", null, h("summary", null, "the whole text"), h("pre", null, said(String(value))))
                              : typeof value === "string"
                                ? h(Long, { text: value, most: 600 })
                                : h(Value, { value }),
                      ),
                  ),
              ),
    );
}

function Answer({ onAnswer, sent }: { readonly onAnswer: (text: string) => void; readonly sent: boolean }): ComponentChildren {
    const [text, set] = useState("");
    return h(
        "form",
        {
            class: "inline",
            onSubmit: (event: Event) => {
                event.preventDefault();
                onAnswer(text);
            },
        },
        h("input", {
            "aria-label": "Your answer",
            value: text,
            disabled: sent,
            onInput: (event: Event) => set((event.target as HTMLInputElement).value),
        }),
        h("button", { class: "primary", disabled: sent }, "Answer"),
    );
}
