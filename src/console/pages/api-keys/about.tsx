import type { KeyRow } from '../../../api-keys/key'
import type { Ask } from '../../action'
import type { Visit } from '../../page'
import { inFull } from '../../ui/format'
import { keyPath } from './key'
import { LiveTraffic, type Usage } from './use'

/** A question about a key. */
export function asked(c: Visit, row: KeyRow, verb: string): Omit<Ask, 'says'> {
  const above = [row.name, keyPath(c, row.id)] as const
  return { title: `${verb} API key`, section: 'keys', above, question: `${verb} “${row.name}”?`, verb: `${verb} key` }
}

/** What happens to a key, and whether it is in use. */
export function About({ c, row, what, use }: { c: Visit; row: KeyRow; what: string; use: Usage }) {
  return (
    <>
      <p>
        <code>{row.key_prefix}</code>
      </p>
      <p>{what}</p>
      <p>
        {row.last_used_at === null ? (
          'The key has never been used.'
        ) : (
          <strong>The key was last used at {inFull(row.last_used_at, c.get('rt').now)}.</strong>
        )}
      </p>
      <LiveTraffic of={use} />
    </>
  )
}
