import tool Path from "node:path"
import tool Yaml from "npm:tinyyaml"
import tool Lib from "npm:tinyyaml/lib"
main agent Tools {
    main func(input) {
        joined = Path.join("a", "..", "b", "c.txt")
        base = Path.basename(joined, ".txt")
        parsed = Yaml.parse("a: 1")
        dumped = Yaml.dump({ x: [1, true, none] })
        { joined: joined, base: base, parsed: parsed, dumped: dumped, lib: Lib.twice(21) }
    }
}
