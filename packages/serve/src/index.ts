/** What the server gives to programs that embed it, and to the command line. Exports only. */
export { ClientsError } from "./access/clients.ts";
export { brainSource } from "./brain/program.ts";
export { type FoundServer, servers } from "./discovery.ts";
export { ServeError, type ServeOptions, Server } from "./server.ts";
export type * from "./wire/messages.ts";
export { type ClientOptions, ServeClient, ServerRefusal } from "./client/client.ts";
