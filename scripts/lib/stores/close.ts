import { storeState } from '../../../src/stores/places.ts'
import { execute, literal } from '../d1.ts'
import { fail } from '../terminal.ts'
import { type Deployment, numbersIn, readDirectory } from './deployment.ts'

/** Closes a store to new projects, or opens it again. */
export async function closeStore({ target, bound }: Deployment, number: number, closed: boolean): Promise<void> {
  const known = await readDirectory(target)
  const numbers = [...new Set([...bound, ...numbersIn(known)])].sort((a, b) => a - b)
  if (!numbers.includes(number)) fail(`There is no store ${number}. The stores are ${numbers.join(', ')}.`)
  const now = Date.now()
  // The cron may not have seen it yet.
  const row = [number, now, closed ? 1 : 0].map(literal).join(', ')
  await execute(
    target,
    `INSERT INTO stores (number, first_seen_at, closed) VALUES (${row}) ON CONFLICT DO UPDATE SET closed = excluded.closed`,
  )
  console.log(
    closed
      ? `Store ${number} is closed: new projects go to other stores. Its own projects stay, and keep working.`
      : `Store ${number} takes new projects again.`,
  )
  if (!closed) return
  const open = known.rows.filter((one) => one.number !== number && storeState(one, bound, now) === 'open')
  if (open.length === 0) {
    console.log('No other store is open now. New projects go to a store that is not closed, or else to store 0.')
  }
}
