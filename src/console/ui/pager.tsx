import type { Visit } from '../page'

type PagerProps = { c: Visit; cursor: string | null; query?: URLSearchParams }

/**
 * Links to the first page and the next page of a list.
 *
 * @param query the filters of the list, if they differ from the address
 */
export function Pager({ c, cursor, query: filters }: PagerProps) {
  const query = new URLSearchParams(filters ?? new URL(c.req.url).searchParams)
  const first = c.req.query('cursor') !== undefined
  query.delete('done')
  query.delete('cursor')
  const start = `?${query}`
  if (cursor !== null) query.set('cursor', cursor)
  if (cursor === null && !first) return null
  return (
    <nav class="more" aria-label="Pages">
      {first && (
        <a class="button" href={start}>
          First page
        </a>
      )}
      {cursor !== null && (
        <a class="button" href={`?${query}`} rel="next">
          Next page →
        </a>
      )}
    </nav>
  )
}
