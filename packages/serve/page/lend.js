/**
 * Lends functions of a web page as tools to a session of the server that this script comes from.
 *
 *     <script src="http://127.0.0.1:4100/lend.js"></script>
 *     <script>
 *         remit.lend({ tools: { cart: { description: "What is in the cart", readOnly: true, call: () => cart.items } } });
 *     </script>
 *
 * Boundary: a page that the server lists with --origin. The page is paired once, by a code of `remit clients pair`; its token is bound to its origin
 * and stays in the page's own storage.
 *
 * LND1: a result says the page's address, so that the server's rules know whose word it is.
 * LND2: when the connection breaks the page comes back, and lends its tools anew. Where it cannot, its token is revoked for example, `onEnd` hears why.
 * LND3: a result that the server cannot take now is sent again as it is: it counts once. One that it does not take at all is told as a failure.
 */
(() => {
    "use strict";
    const server = new URL(document.currentScript.src).origin;
    const KEY = `remit token of ${server}`;

    async function request(token, method, path, body) {
        const response = await fetch(server + path, {
            method,
            headers: {
                ...(token === null ? {} : { authorization: `Bearer ${token}` }),
                ...(body === undefined ? {} : { "content-type": "application/json" }),
            },
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const text = await response.text();
        if (response.ok) return JSON.parse(text);
        throw Object.assign(new Error(messageIn(text) ?? `${server} answers with ${response.status}`), { status: response.status });
    }

    /** Null: a proxy's page, and no answer of the server. */
    function messageIn(text) {
        try {
            return JSON.parse(text).error.message;
        } catch {
            return null;
        }
    }

    /** The page's token: the one it has, if it still counts, else one for a code. */
    async function tokenOf({ code, name }) {
        const kept = localStorage.getItem(KEY);
        if (kept !== null) {
            try {
                await request(kept, "GET", "/v1/me");
                return kept;
            } catch (error) {
                if (error.status !== 401) throw error;
                localStorage.removeItem(KEY);
            }
        }
        const said = code ?? window.prompt(`Code for ${server} (remit clients pair shows one)`);
        if (said === null) throw new Error("the page was not paired");
        const { token } = await request(null, "POST", "/v1/pair", { code: said, name: name ?? (document.title || location.host) });
        localStorage.setItem(KEY, token);
        return token;
    }

    /** The session that is named, else the newest that is open, else a new one. */
    async function sessionOf(token, named, title) {
        if (named !== undefined) return named;
        const { sessions } = await request(token, "GET", "/v1/sessions");
        return (sessions[0] ?? (await request(token, "POST", "/v1/sessions", { title }))).id;
    }

    function connected(token, session, options) {
        const { tools, onCall = () => undefined } = options;
        let answers = new Map();
        let last = 0;
        return new Promise((resolve, reject) => {
            request(token, "POST", "/v1/tickets").then(({ ticket }) => {
                const socket = new WebSocket(`${server.replace(/^http/, "ws")}/v1/socket`);
                const ask = (method, path, body) =>
                    new Promise((answered) => {
                        answers.set(++last, answered);
                        socket.send(JSON.stringify({ id: last, method, path, body }));
                    });
                options.socket = socket;
                socket.onopen = () => socket.send(JSON.stringify({ ticket }));
                socket.onclose = () => resolve();
                socket.onmessage = async ({ data }) => {
                    const message = JSON.parse(data);
                    if (message.welcome !== undefined) {
                        socket.send(JSON.stringify({ listen: session, from: Number.MAX_SAFE_INTEGER }));
                        for (const [name, { call: _, ...spec }] of Object.entries(tools)) {
                            const { status, body } = await ask("PUT", `/v1/sessions/${session}/tools/${name}`, spec);
                            if (status !== 200) return reject(new Error(`the tool '${name}' was not taken: ${body?.error?.message ?? body?.reason}`));
                        }
                        options.lent?.();
                    } else if (message.id !== undefined) {
                        answers.get(message.id)?.(message);
                        answers.delete(message.id);
                    } else if (message.event === "call" && Object.hasOwn(tools, message.data.tool)) {
                        onCall(message.data);
                        const { id, tool, args } = message.data;
                        await give(ask, `/v1/sessions/${session}/calls/${id}/result`, await resultOf(tools[tool], args));
                    }
                };
            }, reject);
        });
    }

    /** Trying again does not help: the token or the session is gone, or the tools are not taken. A busy server, and a proxy before it, are waited for. */
    function isFinal(error) {
        if (error.status === undefined) return !(error instanceof TypeError);
        return error.status >= 400 && error.status < 500 && ![408, 425, 429].includes(error.status);
    }

    /** LND3. */
    async function give(ask, path, result) {
        for (let tries = 0; tries < 60; tries++) {
            const { status, body } = await ask("POST", path, result);
            if (status < 400) return;
            if (status === 400 || status === 413)
                return await ask("POST", path, { ok: false, error: String(body?.error?.message ?? `the server answers with ${status}`) });
            await new Promise((go) => setTimeout(go, 1_000));
        }
    }

    async function resultOf({ call }, args) {
        try {
            return { ok: true, value: (await call(args)) ?? null, site: location.href };
        } catch (error) {
            return { ok: false, error: String(error?.message ?? error) };
        }
    }

    /**
     * Lends tools until `stop()`. Options: `tools` (name → `{ description, input?, readOnly?, repeatable?, call(args) }`), `session`, `code`, `name`,
     * `onCall(call)`, `onEnd(error)` when lent tools cannot be lent any more. Resolves when the tools are lent.
     */
    async function lend(options) {
        const token = await tokenOf(options);
        const session = await sessionOf(token, options.session, options.name ?? document.title);
        const state = { ...options };
        let stopped = false;
        await new Promise((resolve, reject) => {
            let isLent = false;
            state.lent = () => {
                isLent = true;
                resolve();
            };
            (async () => {
                for (let pause = 250; !stopped; pause = Math.min(2 * pause, 10_000)) {
                    const before = Date.now();
                    try {
                        await connected(token, session, state);
                    } catch (error) {
                        // The server is away, or does not take the tools: the first time the caller hears of it.
                        reject(error);
                        if (isFinal(error)) {
                            // LND2.
                            if (isLent) (options.onEnd ?? console.error)(error);
                            return;
                        }
                    }
                    if (Date.now() - before > 10_000) pause = 250;
                    await new Promise((go) => setTimeout(go, pause));
                }
            })();
        });
        return {
            session,
            stop() {
                stopped = true;
                state.socket?.close();
            },
        };
    }

    globalThis.remit = Object.freeze({ lend, server });
})();
