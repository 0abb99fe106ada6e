import { describe, expect, it } from 'vitest'
import { HOUR, SECOND } from '../../src/lib/time'
import { mailboxOf, networkOf } from '../../src/sessions/budget'
import { advance, stopClock } from '../clock'
import { countingD1, DIRECTORY, freshAddress, mailbox, storedText } from '../harness'
import { ask, codeIn, freshEmail, redeem } from './signing-in'

/** How many of `n` requests for codes are answered with a mail. Each one's answer is the same. */
async function mailsFor(email: string, address: () => string, n = 1): Promise<number> {
  const { EMAIL, mails } = mailbox()
  const bindings = { EMAIL }
  for (let i = 0; i < n; i++) {
    const answer = await ask(email, { bindings, headers: { 'CF-Connecting-IP': address() } })
    expect([answer.status, Object.keys(answer.body)]).toEqual([202, ['challenge', 'expires_at']])
  }
  return mails.length
}

let networks = 0
/** Another address in a /48 that no other test has. */
function newSite() {
  const site = `2001:db9:${(++networks).toString(16)}`
  let clients = 0
  return () => `${site}:${(++clients).toString(16)}::1`
}
const always = (address: string) => () => address

describe('the codes of a mailbox', () => {
  it.each([
    ['one requester', () => always(freshAddress())],
    ['two requesters', () => two()],
    ['twenty requesters', () => freshAddress],
  ])('are not spent by others: %s', async (_, attacker) => {
    stopClock()
    const email = freshEmail()
    await mailsFor(email, attacker(), 20)
    const victim = freshAddress()
    const { EMAIL, mails } = mailbox()
    const answer = await ask(email, { bindings: { EMAIL }, headers: { 'CF-Connecting-IP': victim } })
    expect((await redeem(answer.body.challenge, codeIn(mails[0]))).status).toBe(201)
    expect(await mailsFor(email, always(victim), 2)).toBe(2) // mistyped, or the mail was slow
  })

  function two() {
    const addresses = [freshAddress(), freshAddress()]
    let i = 0
    return () => addresses[i++ % 2] as string
  }

  it('are twenty an hour from requesters who have asked before, ten for each, and three for each in any case', async () => {
    const start = stopClock()
    const email = freshEmail()
    const [one, other, late] = [freshAddress(), freshAddress(), freshAddress()]
    expect(await mailsFor(email, always(one), 12)).toBe(10)
    advance(SECOND)
    expect(await mailsFor(email, always(other), 8)).toBe(8)
    expect(await mailsFor(email, always(late), 5)).toBe(3) // two of the twenty, and one more
    expect(await mailsFor(email, always(other), 2)).toBe(0)
    // Anybody else's mailbox is not affected.
    expect(await mailsFor(freshEmail(), always(one))).toBe(1)
    advance(start + HOUR - Date.now())
    expect(await mailsFor(email, always(one), 12)).toBe(9) // the twenty of the last hour: 8 + 3 + 9
    expect(await mailsFor(email, always(other))).toBe(0)
  })

  it('are not more for being asked for in other spellings', async () => {
    stopClock()
    const email = freshEmail()
    const at = always(freshAddress())
    const spellings = [email, email.toUpperCase(), email.replace('@', '+a@'), email.replace('@', '+b+c@')]
    const sent = await Promise.all(spellings.map((spelling) => mailsFor(spelling, at, 5)))
    expect(sent.reduce((sum, n) => sum + n)).toBe(10)
  })

  it('are shared by the addresses of a /64, and bounded for a /48', async () => {
    stopClock()
    const email = freshEmail()
    let client = 0
    const inOne64 = () => `2001:db8:ffff:1:${(++client).toString(16)}::9`
    expect(await mailsFor(email, inOne64, 12)).toBe(10)
    expect(await mailsFor(email, newSite(), 105)).toBe(100)
    expect(await mailsFor(email, newSite())).toBe(1)
  })

  it('cost one trip and a bounded number of rows, however many were asked for', async () => {
    stopClock()
    const email = freshEmail()
    await flood(email.toLowerCase(), 3000)
    const { DB, count } = countingD1()
    const bindings = { DB, EMAIL: mailbox().EMAIL }
    expect((await ask(email, { bindings })).status).toBe(202)
    expect(count).toMatchObject({ trips: 1, rows_written: 4 })
    expect(count.rows_read).toBeLessThan(60)
  })

  it('are counted without storing an address of a visitor', async () => {
    const address = '203.0.113.77'
    await mailsFor(freshEmail(), always(address))
    expect(await storedText()).not.toContain(address)
    const { results } = await DIRECTORY.prepare('SELECT DISTINCT requester FROM sign_in_codes').all<{
      requester: string
    }>()
    for (const { requester } of results) expect(requester).toMatch(/^[0-9a-f]{32}$/)
  })
})

/** Codes of the last hour from as many requesters. */
async function flood(email: string, n: number): Promise<void> {
  const now = Date.now()
  await DIRECTORY.prepare(
    `INSERT INTO sign_in_codes (id, email, mailbox, requester, code_hash, created_at, expires_at)
     SELECT 'chl_' || value, ?1, ?1, printf('%032x', value), '', ?2, ?2 FROM
     (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ?3) SELECT value FROM n)`,
  )
    .bind(email, now, n)
    .run()
}

describe('a mailbox', () => {
  it.each([
    ['a@example.com', 'a@example.com'],
    ['A@Example.COM', 'a@example.com'],
    ['a+b@example.com', 'a@example.com'],
    ['A+b+c@example.com', 'a@example.com'],
    ['a.b@example.com', 'a.b@example.com'],
    ['+a@example.com', '+a@example.com'],
    ['a@b+c.example', 'a@b+c.example'],
    ['a-b@example.com', 'a-b@example.com'],
  ])('of %s is %s', (email, mailbox) => expect(mailboxOf(email)).toBe(mailbox))

  it('is no account: a plus-address is a user of its own', async () => {
    const email = freshEmail()
    const { EMAIL, mails } = mailbox()
    const ids = new Set<string>()
    for (const spelling of [email, email.replace('@', '+b@')]) {
      const { body } = await ask(spelling, { bindings: { EMAIL } })
      const signedIn = await redeem(body.challenge, codeIn(mails.at(-1)))
      expect(signedIn.body.user.email).toBe(spelling)
      ids.add(signedIn.body.user.id)
    }
    expect(ids.size).toBe(2)
  })
})

describe('a requester', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['2001:db8:0:0::/64', '2001:db8:0::/48'],
    ['0:0:0:0::/64', '0:0:0::/48'],
    ['local', 'local'],
  ])('%s is of the site %s', (client, site) => expect(networkOf(client)).toBe(site))

  it('is limited to ten sign-in requests a minute with all of its addresses', async () => {
    const keys: string[] = []
    const LIMIT_SIGN_IN = {
      limit: async ({ key }: { key: string }) => {
        keys.push(key)
        return { success: true }
      },
    } as RateLimit
    for (const address of ['2001:db8:5:6::1', '2001:db8:5:6:a:b:c:d', '2001:db8:5:7::1', '203.0.113.7']) {
      const headers = { 'CF-Connecting-IP': address }
      await ask(freshEmail(), { headers, bindings: { LIMIT_SIGN_IN, EMAIL: mailbox().EMAIL } })
    }
    expect(keys).toEqual(['2001:db8:5:6::/64', '2001:db8:5:6::/64', '2001:db8:5:7::/64', '203.0.113.7'])
  })
})
