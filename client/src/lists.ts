type Page<T> = { data: T[]; next_cursor: string | null }
type Options = { signal?: AbortSignal }
type List<G, P> = (given: G, options?: Options) => Promise<P>
type Filters<G> = Omit<NonNullable<G>, 'cursor'>

/** Each page of a list, such as `pages(api.listConsumers, { state: 'active' })`. A page has 100 items unless you state a `limit`. */
export async function* pages<G, P extends Page<unknown>>(
  list: List<G, P>,
  ...[filters, options]: Record<never, never> extends Filters<G>
    ? [filters?: Filters<G>, options?: Options]
    : [filters: Filters<G>, options?: Options]
): AsyncGenerator<P, void, undefined> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await list({ limit: 100, ...filters, ...(cursor !== undefined && { cursor }) } as G, options)
    yield page
    cursor = page.next_cursor
  }
}

/** Each item of a list, page by page: `for await (const consumer of items(api.listConsumers))`. */
export async function* items<G, T>(
  list: List<G, Page<T>>,
  ...rest: Record<never, never> extends Filters<G>
    ? [filters?: Filters<G>, options?: Options]
    : [filters: Filters<G>, options?: Options]
): AsyncGenerator<T, void, undefined> {
  for await (const { data } of pages<G, Page<T>>(list, ...rest)) yield* data
}
