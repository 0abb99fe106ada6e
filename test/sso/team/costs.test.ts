import { expect, it } from 'vitest'
import { browse, call, countingD1, ORIGIN } from '../../harness'
import { account, CONNECTIONS, comeBack, enforced, ssoMember, start, team } from './team'

/** Round trips and rows written by a call, with the trip that reads the credentials. */
async function costOf<T>(work: (bindings: object) => Promise<T>) {
  const { DB, count } = countingD1()
  const result = await work({ DB })
  return { result, cost: [count.trips, count.rows_written] }
}

it('costs as docs/sso.md says', async () => {
  const of = await team()
  await account(of.host, { sub: 'ada', email: `ada@${of.domain}` })
  const begin = () => costOf((bindings) => start(`connection=${of.connection}`, {}, { bindings }))
  const finish = async ({ url, jar }: { url: string; jar: Record<string, string> }) => {
    const back = await browse(url, new URL(ORIGIN).hostname)
    return costOf((bindings) =>
      comeBack(back, jar, { bindings, headers: { Cookie: `__Host-sso=${jar['__Host-sso']}` } }),
    )
  }
  const begun = await begin()
  const first = await finish(begun.result)
  const again = await finish((await begin()).result)
  const { token } = await ssoMember(of)
  const read = await costOf((bindings) => call(CONNECTIONS, { project: of.project, token, bindings }))
  const byEmail = await costOf((bindings) => start(`email=ada@${of.domain}`, {}, { bindings }))
  const refused = await enforced()
  const seen = await costOf((bindings) =>
    call(CONNECTIONS, { project: refused.project, token: refused.owner.token, bindings }),
  )
  expect({
    start: begun.cost,
    byEmail: byEmail.cost,
    first: first.cost,
    again: again.cost,
    read: read.cost,
    enforced: seen.cost,
  }).toEqual({
    start: [2, 2],
    byEmail: [3, 2],
    first: [2, 18],
    again: [2, 10],
    read: [2, 0],
    enforced: [2, 0],
  })
})
