import { must } from '../../../scripts/lib/api.ts'
import { awaitFinal, deliver, isReceipt, refusal } from '../../../scripts/lib/deliver.ts'
import { connect } from '../../../scripts/lib/inbox.ts'
import { newSigningSecret } from '../../../scripts/lib/sign.ts'
import { localSession } from '../../../scripts/lib/sign-in.ts'

const CUSTOMER = { id: 'cus_1', object: 'customer', email: 'ada@example.com', metadata: { plan: 'pro' } }

/** A project as the page describes it: a key, five events, and a consumer with 15 seats. @returns the page's variables */
export async function sampleProject(url: string): Promise<{ API_URL: string; API_KEY: string; PROJECT_ID: string }> {
  const { token } = await localSession(url)
  const v1 = `${url}/platform/v1`
  const { id: project } = await must<{ id: string }>(`${v1}/projects`, { token, json: { name: 'Clients' } })
  const as = { token, project }
  const { secret } = await must<{ secret: string }>(`${v1}/api-keys`, { ...as, json: { name: 'first key' } })
  await must(`${v1}/billing/features/seats`, { ...as, method: 'PUT', json: { name: 'Seats', type: 'quantity' } })
  await must(`${v1}/consumers`, { ...as, json: { external_id: 'user_42' } })
  await must(`${v1}/billing/grants`, { ...as, json: { consumer: 'ext:user_42', feature: 'seats', value: 15 } })
  const inbox = await connect({ url, vendor: 'stripe', ...as }, 'Clients', newSigningSecret('stripe'))
  const ids: string[] = []
  for (let number = 1; number <= 5; number++) {
    const event = { id: `evt_${number}`, object: 'event', type: 'customer.updated', data: { object: CUSTOMER } }
    const answer = await deliver(inbox, String(number), Buffer.from(JSON.stringify(event)))
    if (!isReceipt(answer)) throw new Error(refusal(answer))
    ids.push(...answer.body.event_ids)
  }
  await awaitFinal(inbox, ids, 60_000)
  return { API_URL: url, API_KEY: secret, PROJECT_ID: project }
}
