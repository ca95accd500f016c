/**
 * A question as a mail, through the SMTP server that the configuration names.
 *
 * CHE1: a password is sent only over TLS, or to this machine.
 */
import { createTransport } from "nodemailer";
import { type Channel, ChannelError, type Reveal, TRY_MS } from "./channel.ts";
import { textOf } from "./message.ts";

export interface MailSettings {
    readonly host: string;
    readonly port?: number;
    readonly secure?: boolean;
    readonly user?: string;
    /** Reference of a secret. */
    readonly password?: string;
    readonly from: string;
    readonly to: readonly string[];
}

const HERE = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/;

export function mail({ host, port, secure = false, user, password, from, to }: MailSettings, reveal: Reveal): Channel {
    return {
        send: async (message) => {
            const auth = user === undefined ? {} : { auth: { user, pass: password === undefined ? "" : reveal(password) } };
            const transport = createTransport({
                host,
                port: port ?? (secure ? 465 : 587),
                secure,
                requireTLS: !secure && user !== undefined && !HERE.test(host),
                ...auth,
                connectionTimeout: TRY_MS,
                greetingTimeout: TRY_MS,
                socketTimeout: TRY_MS,
                disableFileAccess: true,
                disableUrlAccess: true,
            });
            try {
                await transport.sendMail({
                    from,
                    to: [...to],
                    subject: `Remit asks: ${message.text.slice(0, 150)}`,
                    text: textOf(message),
                    messageId: `<${message.run}.${message.question}@remit>`,
                    headers: { "auto-submitted": "auto-generated" },
                });
            } catch (error) {
                throw failed(error);
            } finally {
                transport.close();
            }
        },
    };
}

/** What nodemailer says, without texts of the server: they may quote what was sent. */
function failed(error: unknown): ChannelError {
    if (!(error instanceof Error)) throw error;
    const { code = error.name, responseCode } = error as { readonly code?: string; readonly responseCode?: number };
    const passing = responseCode === undefined ? code !== "EAUTH" && code !== "EENVELOPE" : responseCode >= 400 && responseCode < 500;
    return new ChannelError(`the mail server did not take it (${code}${responseCode === undefined ? "" : `, ${responseCode}`})`, passing);
}
