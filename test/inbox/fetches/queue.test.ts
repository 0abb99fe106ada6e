import { expect, it } from 'vitest'
import { newId, newProjectId } from '../../../src/lib/ids'
import { STORE_NUMBER } from '../../harness'
import { captureLog, deliverBatch } from '../pipeline'

const FETCHES = 'platform-api-fetches'
const project_id = newProjectId(Date.now(), STORE_NUMBER)

const MALFORMED: [name: string, body: unknown][] = [
  ['says nothing', null],
  ['is for another queue', { project_id, event_id: newId('evt', Date.now()) }],
  ['asks for what nobody fetches', { what: 'weather', project_id }],
  ['has no project of ours', { what: 'import', project_id: 'prj_1', import_id: 'imp_1' }],
]

it.each(MALFORMED)('a message that %s is acked and logged, and the others of its batch are done', async (_, body) => {
  const log = captureLog()
  const good = { what: 'import', project_id, import_id: 'imp_1' }
  expect(await deliverBatch([body, good], {}, FETCHES)).toEqual(['ack', 'ack'])
  expect(log.of('malformed_message')).toMatchObject([{ queue: FETCHES, message_id: 'message-0' }])
  expect(log.of('fetches')).toMatchObject([{ what: 'import', store: STORE_NUMBER, messages: 1 }])
})

it('a message of a store that is not bound is delivered again', async () => {
  const log = captureLog()
  const elsewhere = { what: 'import', project_id: newProjectId(Date.now(), 31), import_id: 'imp_1' }
  expect(await deliverBatch([elsewhere], {}, FETCHES)).toEqual([{ delaySeconds: 65 }])
  expect(log.of('fetches')).toMatchObject([{ level: 'error', error: expect.stringContaining('store 31') }])
})
