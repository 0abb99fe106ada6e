import { idPattern } from '../lib/ids'
import { pathsOf, type Visit } from './page'

/** The page that a form was opened from, if it leads back there: `overview`, or the id of a consumer. */
export function fromOf(c: Visit): string | null {
  const from = (c.req.method === 'POST' ? c.get('form').get('from') : c.req.query('from')) ?? ''
  return from === 'overview' || idPattern('csm').test(from) ? from : null
}

/** The field of a form that keeps where it was opened from. */
export function FromField({ c, from = fromOf(c) }: { c: Visit; from?: string | null }) {
  return from && <input type="hidden" name="from" value={from} autocomplete="off" />
}

/** Where a form leads: back to where it was opened from, or to its usual page. */
export function backTo(c: Visit, usual: string): string {
  const from = fromOf(c)
  const { start, consumers } = pathsOf(c)
  return from === null ? usual : from === 'overview' ? start : `${consumers}/${from}`
}
