/** What a program uses that speaks to a server, in Node or in a browser; nothing of the server comes with it. Exports only. */
export { MAX_PICTURE_BYTES, MAX_PICTURES, PICTURE_TYPES, SCOPES } from "../wire/bounds.ts";
export type * from "../wire/messages.ts";
export { type ClientOptions, ServeClient, ServerRefusal } from "./client.ts";
