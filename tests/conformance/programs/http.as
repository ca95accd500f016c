import tool Api from "http://127.0.0.1:PORT/base/"
import tool Env from "env://process"
main agent Http {
    main func(input { id: number }) {
        key = Env.get({ name: "API_USER" })
        got = Api.get({ url: "items/1", headers: { "x-user": key.value } })
        made = Api.post({ url: "/items", body: { id: input.id, tags: ["a"] } })
        missing = Api.GET({ url: "/nope" })
        { ok: got.ok, status: got.status, name: got.json.name, user: got.json.user, made: made.json, body: made.body, missing: missing.status, missing_ok: missing.ok, text: missing.body, json: missing.json }
    }
}
