import { stripeEvent } from '../../harness'
import { type Rows, rows, type World } from '../pipeline'

/** Delivers an event and has it processed. @returns its id */
export async function delivered({ send, queue }: World, event: unknown = stripeEvent()): Promise<string> {
  const { body } = await send(event)
  await queue.pump()
  return body.event_ids[0]
}

/** The audit rows of a project's replays. */
export const audited = (project: string) =>
  rows("SELECT * FROM audit_log WHERE project_id = ? AND action IN ('event.replayed', 'events.replayed')", project)

export const replaysOf = (project: string) =>
  rows<Rows['replays']>('SELECT * FROM replays WHERE project_id = ? ORDER BY id', project)
