import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { PRESET_NAMES } from '../../src/vendors/verification'
import { addMember, call, freshProject, stripeConnection } from '../harness'
import { submit, visit } from './visit'

const SECRET = 'the-secret-of-the-sender'
const BARE = { algorithm: 'sha256', header: 'x-mac', encoding: 'hex', signed: '{body}', unit: 's', tolerance_s: '300' }

/** A connection of the vendor `hmac`, its page and that of its verification. */
async function newPlace() {
  const { project, owner } = await freshProject()
  const json = { vendor: 'hmac', name: 'Sender', livemode: true, signing_secret: SECRET }
  const path = '/platform/v1/billing/connections'
  const { body } = await call(path, { method: 'POST', project, token: owner.token, json })
  const at = `/console/p/${project}/platform/billing/connections/${body.id}`
  const look = async (more = '') => (await visit(`${at}${more}`, owner.token)).text
  const stored = async () => (await call(`${path}/${body.id}`, { project, token: owner.token })).body.verification
  const send = (fields: Record<string, string>) => submit(`${at}/verification`, owner.token, fields)
  const tried = (fields: Record<string, string>) => submit(`${at}/verification/try`, owner.token, fields)
  return { project, owner, at, look, stored, send, tried }
}
const inputOf = (text: string, name: string) =>
  new RegExp(`<input[^>]*name="${name}"[^>]*?value="([^"]*)"`).exec(text)?.[1]
const mac = (body: string) => createHmac('sha256', SECRET).update(body).digest('hex')

describe('the verification of a sender in the console', () => {
  it('is a step of the setup, and is set from a preset', async () => {
    const { at, look, stored, send } = await newPlace()
    expect(await look()).toContain(`href="${at}/verification">Set verification</a>`)
    expect(await look('/verification')).not.toContain('Try a delivery')
    for (const preset of PRESET_NAMES)
      expect(await look(`/verification?preset=${preset}`)).toContain(`value="${preset}" selected`)
    const form = await look('/verification?preset=sanity')
    expect(['header', 'pairs_time', 'pairs_signature', 'signed', 'id'].map((name) => inputOf(form, name))).toEqual([
      'sanity-webhook-signature',
      't',
      'v1',
      '{time}.{body}',
      'header:idempotency-key',
    ])
    const pairs = { preset: 'sanity', pairs_time: 't', pairs_signature: 'v1', signed: '{time}.{body}', unit: 'ms' }
    const answer = await send({ ...BARE, ...pairs, prefix: '', time_header: '', id: '', type: 'type' })
    expect([answer.status, answer.headers.get('Location')]).toEqual([303, `${at}?done=verification_set`])
    expect(await stored()).toMatchObject({
      preset: 'sanity',
      header: 'x-mac',
      pairs: { time: 't', signature: 'v1' },
      unit: 'ms',
      signed: '{time}.{body}',
      type: 'type',
    })
    const page = await look()
    expect(page).toContain('Change verification')
    expect(page).toContain('Deliveries are refused 300 s after they were signed')
    expect(inputOf(await look('/verification'), 'pairs_signature')).toBe('v1')
  })

  it('says beside each field why it is unsafe, and keeps what was entered', async () => {
    const { send, stored } = await newPlace()
    for (const [fields, said] of [
      [{ signed: 'v1' }, 'Must contain {body} once'],
      [{ algorithm: 'sha1', confirm: 'false' }, 'Must be true for sha1'],
      [{ header: 'Cookie' }, 'Must not be a header for credentials'],
      [
        { pairs_time: 't', pairs_signature: 't', signed: '{time}.{body}' },
        'Must differ from the name of the signature',
      ],
      [{ tolerance_s: '' }, 'Must be'],
      [{ id: 'a..b' }, 'Must be a path'],
    ] as const) {
      const { status, text } = await send({ ...BARE, prefix: 'mine=', pairs_time: '', pairs_signature: '', ...fields })
      expect([status, text.includes(said)], said).toEqual([422, true])
      expect(inputOf(text, 'prefix')).toBe('mine=')
    }
    expect(await stored()).toBeNull()
    expect((await send({ ...BARE, algorithm: 'sha1', confirm: 'true' })).status).toBe(303)
  })

  it('tries a delivery, and shows what was signed', async () => {
    const { send, tried, look } = await newPlace()
    await send({ ...BARE, id: 'id', type: 'header:x-type' })
    expect(await look()).toContain('anyone who captures a delivery can send it again')
    const body = '{\r\n  "id": "<evt_1>"\r\n}'
    const signed = body.replaceAll('\r\n', '\n')
    const headers = (signature: string) => `X-Mac: ${signature}\r\n\r\nx-type: a:b\r\n`
    const refused = await tried({ headers: headers('0'.repeat(64)), body })
    expect([refused.status, refused.text.includes('<strong>Refused.</strong> The signature matches none')]).toEqual([
      200,
      true,
    ])
    expect(refused.text).toContain('<pre id="signed">{\n  &quot;id&quot;: &quot;&lt;evt_1&gt;&quot;\n}</pre>')
    const accepted = await tried({ headers: headers(mac(signed)), body })
    expect(accepted.text).toContain('<strong>Accepted.</strong>')
    expect(accepted.text).toContain('<code>a:b</code>')
    expect(accepted.text).not.toContain(SECRET)
    const twice = await tried({ headers: `${headers(mac(signed))}X-Mac: ${mac(signed)}`, body })
    expect(twice.text).toContain('A signature is not 32 bytes in hex.')
    expect((await tried({ headers: 'no header at all', body })).status).toBe(422)
  })

  it('is for those who may change connections, and for HMAC senders', async () => {
    const { project, owner, at } = await newPlace()
    const viewer = await addMember(project, 'developer')
    expect((await visit(`${at}/verification`, viewer.token)).status).toBe(403)
    const { id } = await stripeConnection(owner.token, project)
    const other = at.replace(/con_\w+$/, id)
    expect((await visit(`${other}/verification`, owner.token)).status).toBe(409)
    expect((await visit(other, owner.token)).text).not.toContain('Verification')
  })
})
