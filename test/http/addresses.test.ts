import { describe, expect, it } from 'vitest'
import { newSecret } from '../../src/api-keys/secret'
import type { Env } from '../../src/env'
import { newConnectionId } from '../../src/lib/ids'
import { call, freshProject } from '../harness'

type Limit =
  | 'LIMIT_AUTH_FAILURE'
  | 'LIMIT_SIGN_IN'
  | 'LIMIT_INGEST'
  | 'LIMIT_UNKNOWN_CONNECTION'
  | 'LIMIT_PUBLIC'
  | 'LIMIT_EXPOSURES'

/** What an address is counted under, where a limit counts by address. */
const COUNTED: [Limit, (headers: Record<string, string>, bindings: Partial<Env>) => Promise<unknown>][] = [
  [
    'LIMIT_AUTH_FAILURE',
    async (headers, bindings) => {
      const { project } = await freshProject()
      return call('/platform/v1/api-keys', { token: (await newSecret(0)).secret, project, headers, bindings })
    },
  ],
  [
    'LIMIT_SIGN_IN',
    (headers, bindings) =>
      call('/auth/codes', { method: 'POST', json: { email: 'nobody@example.com' }, headers, bindings }),
  ],
  ['LIMIT_PUBLIC', (headers, bindings) => call('/p/prj_none/jwks.json', { headers, bindings })],
  [
    'LIMIT_EXPOSURES',
    (headers, bindings) => call('/exposures/github', { method: 'POST', body: '[]', headers, bindings }),
  ],
  ...(['LIMIT_INGEST', 'LIMIT_UNKNOWN_CONNECTION'] as const).map((limit): (typeof COUNTED)[number] => [
    limit,
    (headers, bindings) =>
      call(`/ingest/${newConnectionId(Date.now(), 0)}`, { method: 'POST', body: '{}', headers, bindings }),
  ]),
]

describe.each(COUNTED)('%s', (limit, request) => {
  it.each([
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::ffff', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:0:3::1', '2001:db8:0:3::/64'],
    ['2001:db8::3:0:0:0:1', '2001:db8:0:3::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::', 'fe80:0:0:0::/64'],
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
  ])('counts %s as %s', async (address, counted) => {
    const keys: string[] = []
    const limiter = {
      limit: async ({ key }: RateLimitOptions) => {
        keys.push(key)
        return { success: true }
      },
    } as RateLimit
    await request({ 'CF-Connecting-IP': address }, { [limit]: limiter } as unknown as Partial<Env>)
    expect(keys).toEqual([
      limit === 'LIMIT_INGEST' ? expect.stringMatching(new RegExp(`:${escaped(counted)}$`)) : counted,
    ])
    if (limit === 'LIMIT_INGEST') expect(keys[0]).toMatch(new RegExp(`^con_\\w{27}:${escaped(counted)}$`))
  })
})

const escaped = (text: string) => text.replaceAll('.', '\\.')
