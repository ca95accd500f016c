/**
 * What a server counts, as Prometheus reads it.
 *
 * Boundary: numbers (prom-client). No id of a session, a client or a turn is a label: there are as many of them as their makers like.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { SessionInfo } from "../wire/messages.ts";

/** Of the process: one for all servers in it. */
const PROCESS = new Registry();
let isCollected = false;

export interface Measured {
    sessions(): readonly SessionInfo[];
    sockets(): number;
}

export class Metrics {
    readonly #registry = new Registry();
    readonly #requests: Histogram<"method" | "route" | "status">;
    readonly #refused: Counter<"status">;
    readonly #calls: Counter<"ok">;
    readonly #turns: Counter<"status">;
    readonly #streams: Gauge;
    readonly #cut: Counter;

    constructor(measured: Measured) {
        const registers = [this.#registry];
        this.#requests = new Histogram({
            name: "remit_request_seconds",
            help: "Requests, until their answer begins, also those over a WebSocket.",
            labelNames: ["method", "route", "status"],
            buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
            registers,
        });
        this.#refused = new Counter({
            name: "remit_refused_total",
            help: "Requests that were refused.",
            labelNames: ["status"],
            registers,
        });
        this.#calls = new Counter({ name: "remit_calls_total", help: "Calls of lent tools that are over.", labelNames: ["ok"], registers });
        this.#turns = new Counter({ name: "remit_turns_total", help: "Turns that are over.", labelNames: ["status"], registers });
        this.#streams = new Gauge({ name: "remit_streams", help: "Readers of sessions.", registers });
        this.#cut = new Counter({
            name: "remit_readers_cut_total",
            help: "Readers that were cut off because they did not read.",
            registers,
        });
        const now = (name: string, help: string, value: (all: readonly SessionInfo[]) => number): void => {
            new Gauge({
                name,
                help,
                registers,
                collect() {
                    this.set(value(measured.sessions()));
                },
            });
        };
        const sum = (all: readonly SessionInfo[], of: (one: SessionInfo) => number): number =>
            all.reduce((total, one) => total + of(one), 0);
        const turns = (status: string) => (all: readonly SessionInfo[]) =>
            sum(all, (one) => one.turns.filter((turn) => turn.status === status).length);
        now("remit_sessions", "Sessions that are open.", (all) => all.length);
        now("remit_turns_queued", "Turns that wait.", turns("queued"));
        now("remit_turns_running", "Turns that run.", turns("running"));
        now("remit_asks_open", "Questions that wait for a person.", (all) => sum(all, ({ asks }) => asks.length));
        now("remit_lent_tools", "Tools that are lent.", (all) => sum(all, ({ tools }) => tools.length));
        now("remit_sockets", "WebSockets that are open.", () => measured.sockets());
    }

    /** `route`: as the description writes it; `ms`: until the answer began. */
    request(method: string, route: string, status: number, ms: number): void {
        this.#requests.observe({ method, route, status }, ms / 1000);
        if (status === 401 || status === 403 || status === 421 || status === 429) this.#refused.inc({ status });
    }

    call(isOk: boolean): void {
        this.#calls.inc({ ok: String(isOk) });
    }

    turn(status: string): void {
        this.#turns.inc({ status });
    }

    /** +1 or -1. */
    stream(change: number): void {
        this.#streams.inc(change);
    }

    cut(): void {
        this.#cut.inc();
    }

    /** In the text form of Prometheus, version 0.0.4. */
    async text(): Promise<string> {
        if (!isCollected) collectDefaultMetrics({ register: PROCESS });
        isCollected = true;
        return (await this.#registry.metrics()) + (await PROCESS.metrics());
    }

    get contentType(): string {
        return this.#registry.contentType;
    }
}
