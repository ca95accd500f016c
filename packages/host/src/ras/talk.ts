/**
 * What the processes of a RAS program say to its run over the socket, and are answered.
 *
 * Boundary: frames and sockets. When a call is answered and what ends the program is `process.ts`.
 *
 * PRO2: whatever speaks to the socket says the run's token first; one program may, and any number of commands of a Bash program.
 * PRO3: ids of calls are ours. What is no frame, an id twice, a call after the end: the connection is ended, of a program the process too.
 */
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { isObject, type Json } from "@remit/language";
import { headOf } from "../secret/cut.ts";
import type { Scrubber } from "../secret/scrub.ts";
import { readCommand, readsInput, shownAnswer } from "./command.ts";
import { CALL_KINDS, type CallKind, type Fields, frameReader } from "./frames.ts";
import type { RasSource } from "./source.ts";

/** What a call is answered with: a value, or the words with which it fails. */
export interface Said {
    readonly value: Json;
    readonly error?: string;
}

/** Who is told. */
export interface Listener {
    called(kind: CallKind, args: Fields, answer: (said: Said) => void): void;
    /** Something is otherwise than it was. */
    changed(): void;
    /** The program spoke in a way that its own runner does not. */
    broken(): void;
}

export interface TalkOptions {
    readonly token: string;
    readonly language: RasSource["language"];
    readonly inputs: Json;
    readonly secrets: Scrubber;
}

/** Takes a frame; false ends the connection. */
type Reader = (frame: Fields) => boolean;

/** Of a program's word that it is over, characters. */
const MAX_ERROR = 4000;

export class Talk {
    /** How it ended, as its runner says. */
    ended: { readonly value?: Json; readonly error?: string } | null = null;
    /** The program itself said that it has nothing left to do. */
    idle = false;
    /** Commands under way. */
    readonly commands = new Set<Socket>();
    private readonly options: TalkOptions;
    private readonly to: Listener;
    private readonly server: Server;
    private readonly sockets = new Set<Socket>();
    private program: Socket | null = null;

    constructor(options: TalkOptions, to: Listener) {
        this.options = options;
        this.to = to;
        this.server = createServer((socket) => this.meet(socket));
    }

    async listen(place: string): Promise<void> {
        await once(this.server.listen(place), "listening");
    }

    close(): void {
        this.server.close();
        for (const socket of this.sockets) socket.destroy();
    }

    private meet(socket: Socket): void {
        this.sockets.add(socket);
        let next: Reader | null = null;
        const read = frameReader((frame) => {
            if (next !== null) return next(frame);
            next = this.readerOf(socket, frame);
            return next !== null;
        });
        socket.on("data", (piece) => {
            if (read(piece as Buffer)) return;
            socket.destroy();
            if (socket === this.program && this.ended === null) this.to.broken();
        });
        socket.on("error", () => socket.destroy());
        socket.on("close", () => {
            this.sockets.delete(socket);
            this.commands.delete(socket);
            this.to.changed();
        });
    }

    /** What reads the frames after the first one; null where that one is not right. */
    private readerOf(socket: Socket, hello: Fields): Reader | null {
        const { token, language, inputs } = this.options;
        if (hello.hello !== token) return null;
        if (language === "bash") return hello.as === "command" ? this.command(socket, hello) : null;
        if (hello.as !== "program" || this.program !== null) return null;
        this.program = socket;
        send(socket, { inputs });
        const ids = new Set<Json>();
        return (frame) => this.fromProgram(socket, frame, ids);
    }

    private fromProgram(socket: Socket, frame: Fields, ids: Set<Json>): boolean {
        if (this.ended !== null) return false;
        if (frame.ended === true) {
            this.ended = {
                ...(typeof frame.error === "string" ? { error: headOf(frame.error, MAX_ERROR, this.options.secrets) } : {}),
                ...(frame.value === undefined ? {} : { value: frame.value }),
            };
            return true;
        }
        if (!Array.isArray(frame.calls)) return false;
        for (const one of frame.calls) {
            if (!isObject(one) || typeof one.id !== "number" || ids.has(one.id) || !isObject(one.args)) return false;
            const kind = CALL_KINDS.find((name) => name === one.kind);
            if (kind === undefined) return false;
            const { id } = one;
            ids.add(id);
            this.to.called(kind, one.args, ({ value, error }) =>
                send(socket, { answers: [error === undefined ? { id, value } : { id, error }] }),
            );
        }
        this.idle = true;
        this.to.changed();
        return true;
    }

    private command(socket: Socket, hello: Fields): Reader | null {
        this.commands.add(socket);
        const kind = CALL_KINDS.find((name) => name === hello.kind);
        const argv = Array.isArray(hello.argv) ? hello.argv.filter((one) => typeof one === "string") : null;
        if (kind === undefined || argv === null) return null;
        const begin = (input: string): void => {
            const read = readCommand(kind, argv, input);
            if (!read.ok) {
                send(socket, { err: read.message, code: 2 });
                return;
            }
            this.to.called(read.kind, read.args, ({ value, error }) =>
                send(socket, error === undefined ? { ...shownAnswer(read.kind, read.args, value) } : { err: error, code: 1 }),
            );
        };
        if (!readsInput(kind, argv)) {
            begin("");
            return () => false;
        }
        send(socket, { input: true });
        let had = false;
        return (frame) => {
            if (had || typeof frame.input !== "string") return false;
            had = true;
            begin(frame.input);
            return true;
        };
    }
}

function send(socket: Socket, frame: Fields): void {
    if (!socket.destroyed) socket.write(`${JSON.stringify(frame)}\n`);
}
