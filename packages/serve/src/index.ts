/** What the server gives to programs that embed it, and to the command line. Exports only. */
export { type AcpOptions, serveAcp, type Serving } from "./acp/agent.ts";
export { ClientsError } from "./access/clients.ts";
export { brainSource } from "./brain/program.ts";
export { type FoundServer, servers } from "./discovery.ts";
export { type McpOptions, type McpServing, serveMcp } from "./mcp/server.ts";
export { ServeError } from "./faces/error.ts";
export { LIMITS, type ServeLimits } from "./access/limits.ts";
export { LEVELS, type Level } from "./watch/log.ts";
export { type ServeOptions, Server } from "./server.ts";
export { type UiAsk, type UiChunk, type UiEnd, UiMessage } from "./ui/message.ts";
export { UI_HEADERS, uiMessages, uiResponse } from "./ui/stream.ts";
export type * from "./wire/messages.ts";
export { runMeant } from "./runs/view.ts";
export { type ClientOptions, ServeClient, ServerRefusal } from "./client/client.ts";
