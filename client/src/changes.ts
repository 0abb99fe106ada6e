import type { PlatformClient } from './connect.js'
import { PlatformError } from './errors.js'
import { sleep } from './retry.js'
import type { Change, ChangeType } from './schema.js'

export type FollowOptions = {
  /** The position that you saved last; null at the first start. */
  after: string | null
  /** Only these types. `subscription.*` stands for all types that begin with `subscription.`. */
  types?: (ChangeType | `${string}.*`)[]
  /** Changes on a page: 1 to 500, 100 by default. */
  limit?: number
  signal?: AbortSignal
}

export type Followed = {
  /** True at the first start, and if the position has expired: copy the lists that you need before you save `position`. */
  begins: boolean
  /** In the order of their commits. Empty if `begins`. */
  changes: Change[]
  /** Save it once you have handled the changes, and continue after it. */
  position: string
}

/**
 * The changes of a project from a position on, page by page, without an end. It waits while there are none.
 *
 * @throws PlatformError if the API refuses a call, or cannot be reached: start again from the position that you saved
 */
export async function* follow(
  api: Pick<PlatformClient, 'listChanges'>,
  { after, types, limit = 100, signal }: FollowOptions,
): AsyncGenerator<Followed, never, undefined> {
  const options = { ...(signal && { signal }) }
  const filter = { limit, ...(types && { types: types.join() }) }
  for (let position = after; ; ) {
    if (position === null) {
      position = (await api.listChanges({ after: 'latest' }, options)).next
      yield { begins: true, changes: [], position }
    }
    const page = await api.listChanges({ ...filter, after: position }, options).catch(unlessExpired)
    position = page?.next ?? null
    if (page === null || position === null) continue
    yield { begins: false, changes: page.data, position }
    if (page.poll_after_s > 0) await sleep(page.poll_after_s * 1000, signal)
  }
}

function unlessExpired(error: unknown): null {
  if (error instanceof PlatformError && error.code === 'cursor_expired') return null
  throw error
}
