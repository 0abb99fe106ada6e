type Item<T, R> = { value: T; resolve: (result: R) => void; reject: (error: unknown) => void }
type Group<T, R> = { items: Item<T, R>[]; weight: number; go: () => void }

export function gathering<T, R>({ most, mostWeight, waitMs }: { most: number; mostWeight: number; waitMs: number }) {
  let out = 0
  let last = 1
  let boarding: Group<T, R> | null = null

  function check(): void {
    if (!boarding) return
    const { length } = boarding.items
    if (length >= most || (out === 0 && length >= last)) boarding.go()
  }

  async function depart({ items }: Group<T, R>, send: (values: T[]) => Promise<R[]>): Promise<void> {
    out += 1
    last = items.length
    try {
      const results = await send(items.map(({ value }) => value))
      for (const [i, item] of items.entries()) item.resolve(results[i] as R)
    } catch (error) {
      for (const item of items) item.reject(error)
    } finally {
      out -= 1
      check()
    }
  }

  async function board(value: Item<T, R>, weight: number, send: (values: T[]) => Promise<R[]>): Promise<void> {
    const { promise: gone, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, waitMs)
    const group = { items: [value], weight, go: resolve }
    boarding = group
    await gone
    if (boarding === group) boarding = null
    clearTimeout(timer)
    await depart(group, send)
  }

  return (
    value: T,
    weight: number,
    send: (values: T[]) => Promise<R[]>,
    waitUntil: (work: Promise<unknown>) => void,
  ): Promise<R> => {
    const own = Promise.withResolvers<R>()
    const item = { value, resolve: own.resolve, reject: own.reject }
    if (boarding && boarding.items.length < most && boarding.weight + weight <= mostWeight) {
      boarding.items.push(item)
      boarding.weight += weight
      check()
    } else if (out === 0 && last === 1) waitUntil(depart({ items: [item], weight, go: () => {} }, send))
    else waitUntil(board(item, weight, send))
    return own.promise
  }
}
