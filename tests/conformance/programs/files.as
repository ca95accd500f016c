import tool F from "file://workspace"
import tool Find from "sh://find"
import tool Range from "sh://read-range"
main agent Files {
    main func(input) {
        before = F.list({ path: "data" })
        w = F.write({ path: "data/new.txt", content: "one\ntwo\nthree\n" })
        p = F.patch({ path: "data/new.txt", search: "two", replace: "2" })
        range = Range.run({ path: "data/new.txt", start: 2, max: 1 })
        found = Find.run({ path: ".", name: "*.txt", type: "file" })
        u = F.undo(p.effects)
        after = F.read({ path: "data/new.txt" })
        u2 = F.undo(w.effects)
        { before: before, action: w.effects[0].action, undoable: w.effects[0].undoable, existed: w.effects[0].existed, tool: p.effects[0].tool, range: range, found: found.files, undone: u.ok, after: after.content, left: F.list({ path: "data" }).entries, u2: u2.ok }
    }
}
