/** Prints what is wrong and what to do about it, then exits with code 1. */
export function fail(message: string): never {
  console.error(`\n${message}\n`)
  process.exit(1)
}

/** Runs the main function of a script. An error is printed as one line without a stack. */
export async function run(main: () => Promise<void>): Promise<void> {
  try {
    await main()
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error))
  }
}

/** Prints a table. Each column is as wide as its widest cell. */
export function printTable(headings: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = headings.map((heading, i) => Math.max(heading.length, ...rows.map((row) => row[i]?.length ?? 0)))
  const line = (cells: readonly string[]) =>
    widths
      .map((width, i) => (cells[i] ?? '').padEnd(width))
      .join('  ')
      .trimEnd()
  console.log(line(headings))
  console.log(line(widths.map((width) => '─'.repeat(width))))
  for (const row of rows) console.log(line(row))
}

/** A progress counter. It overwrites itself in a terminal, and prints a line from time to time elsewhere. */
export function progress(what: string, total: number): (done: number) => void {
  let printed = 0
  return (done) => {
    if (process.stdout.isTTY) process.stdout.write(`\r${what} ${done} of ${total}${done >= total ? '\n' : ''}`)
    else if (done >= total || done - printed >= Math.max(10, total / 10)) {
      printed = done
      console.log(`${what} ${done} of ${total}`)
    }
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
