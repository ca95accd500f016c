/**
 * The clock by which runs count their time (`src/run/turn.ts`), which stands still until a test lets time pass: what a run is given does not depend on
 * how busy the machine is. Timers still ring.
 */
export interface StillClock extends Disposable {
    pass(ms: number): void;
}

export function stillClock(): StillClock {
    const { hrtime } = process;
    const [seconds, nanoseconds] = hrtime();
    let passed = 0;
    const now = (): [number, number] => {
        const at = nanoseconds + passed * 1e6;
        return [seconds + Math.floor(at / 1e9), at % 1e9];
    };
    process.hrtime = Object.assign(now, { bigint: hrtime.bigint });
    return {
        pass: (ms) => {
            passed += ms;
        },
        [Symbol.dispose]: () => {
            process.hrtime = hrtime;
        },
    };
}
