/**
 * The server's description (OpenAPI 3.1), made from the rows that it answers by.
 *
 * Boundary: pure.
 */
import type { Json } from "@remit/language";
import { z } from "zod";
import type { Route } from "./route.ts";

export function openApi(routes: readonly Route[]): Json {
    const paths = Object.fromEntries(
        [...Map.groupBy(routes, ({ path }) => path)].map(([path, rows]) => [
            path,
            Object.fromEntries(rows.map((row) => [row.method, operation(row)])),
        ]),
    );
    return {
        openapi: "3.1.0",
        info: { title: "Remit server", version: "1", license: { name: "MIT", identifier: "MIT" } },
        paths,
        components: {
            securitySchemes: { token: { type: "http", scheme: "bearer" } },
            schemas: {
                Error: {
                    type: "object",
                    properties: {
                        error: {
                            type: "object",
                            properties: { kind: { type: "string" }, message: { type: "string" }, hint: { type: "string" } },
                            required: ["kind", "message"],
                        },
                    },
                    required: ["error"],
                },
            },
        },
    } as unknown as Json;
}

function operation({ method, path, summary, scope, body, query = {}, headers = {}, answers }: Route): unknown {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: "path", required: true, schema: { type: "string" } }));
    const more = (where: "query" | "header", all: { readonly [name: string]: string }): unknown[] =>
        Object.entries(all).map(([name, description]) => ({ name, in: where, required: false, description, schema: { type: "string" } }));
    const failure = { content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } } };
    return {
        operationId: `${method}_${path
            .replace(/^\/v1\//, "")
            .replace(/[^a-z]+/gi, "_")
            .replace(/_$/, "")}`,
        summary,
        ...(scope === null ? { security: [] } : { security: [{ token: [] }], "x-remit-scope": scope }),
        parameters: [...inPath, ...more("query", query), ...more("header", headers)],
        ...(body === undefined
            ? {}
            : {
                  requestBody: {
                      required: true,
                      content: { "application/json": { schema: z.toJSONSchema(body, { io: "input", unrepresentable: "any" }) } },
                  },
              }),
        responses: {
            ...Object.fromEntries(
                Object.entries(answers).map(([status, description]) => [status, { description, ...(Number(status) < 400 ? {} : failure) }]),
            ),
            ...(scope === null
                ? {}
                : {
                      401: { description: "no credential, or a wrong one", ...failure },
                      403: { description: "origin or scope", ...failure },
                  }),
        },
    };
}
