import { expect } from 'vitest'
import { rows } from '../pipeline'
import type { ThinWorld } from './world'

type Row = {
  id: string
  status: string
  due_at: number | null
  attempts: number
  tries: number
  lease_token: string | null
  last_error: string | null
}

/** What must hold of every event, fetched records included: an end, its attempts, and totals of deliveries alone. */
export async function expectSound({ project }: Pick<ThinWorld, 'project'>): Promise<void> {
  const events = await rows<Row>('SELECT * FROM events WHERE project_id = ? ORDER BY id', project)
  const attempts = await rows<{ event_id: string; number: number; outcome: string }>(
    'SELECT * FROM attempts WHERE event_id IN (SELECT id FROM events WHERE project_id = ?) ORDER BY event_id, number',
    project,
  )
  for (const event of events) {
    expect({ ...event, lease_token: event.lease_token }).toMatchObject({ due_at: null, lease_token: null })
    const own = attempts.filter(({ event_id }) => event_id === event.id)
    const numbers = own.map((one) => one.number)
    const all = Array.from({ length: event.attempts }, (_, i) => i + 1)
    // The first one may follow from the event.
    expect(numbers[0] === 1 ? numbers : [1, ...numbers]).toEqual(all)
    expect(event.last_error === null).toBe(event.status !== 'failed')
  }
  const totals = await rows<{ status: string; n: number }>('SELECT status, n FROM totals WHERE project_id = ?', project)
  for (const { status, n } of totals) {
    expect([status, n]).toEqual([status, events.filter((one) => one.status === status && one.id < 'ftc').length])
  }
}
