import type { Context } from 'hono'
import type { HttpEnv } from '../../http/context'

/** Links to the first page and the next page of a list. */
export function Pager({ c, cursor }: { c: Context<HttpEnv>; cursor: string | null }) {
  const query = new URL(c.req.url).searchParams
  const first = query.has('cursor')
  query.delete('done')
  query.delete('cursor')
  const start = `?${query}`
  if (cursor !== null) query.set('cursor', cursor)
  if (cursor === null && !first) return null
  return (
    <nav class="more" aria-label="Pages">
      {first && <a href={start}>First page</a>}
      {cursor !== null && (
        <a href={`?${query}`} rel="next">
          Next page →
        </a>
      )}
    </nav>
  )
}
