import { MOST_COUNTED } from '../../db/total'
import { plural } from './format'

/** How many rows a list has in all, above its table. Nothing if that is not known. @param one what a row is called */
export function Total({ n, one }: { n: number | null; one: string }) {
  if (n === null || n === 0) return null
  return <p class="quiet total">{n > MOST_COUNTED ? `More than ${plural(MOST_COUNTED, one)}` : plural(n, one)}</p>
}
