main agent Chains {
    main func(input) {
        log = []
        log
            .add("a")
            .add({
                k: [1, 2, 3]
            })
            .add(
                helper(
                    1,
                    2,
                )
            )
        item = log[1]
            .k
        o = { deep: { list: [] } }
        o
            .deep
            .list
            .add(item.length)
        o.deep.total = 0
        for n in item max 10 {
            for m in item max 10 {
                if n == m { o.deep.total += n * m } else { o.deep.total -= 0 }
            }
        }
        return [log, o, log.summary.length]
    }
    func helper(x, y) { x - y }
}
