import { DAY, HOUR } from '../../src/lib/time'
import { randomFrom } from '../billing/lives'
import { advance } from '../clock'
import { rows } from '../inbox/pipeline'
import { FEATURES, subscription, type WatchWorld } from './world'

/** What an act has made different of a consumer's feature. `from`, `to`: the numbers of its changes are between these. */
export type Difference = { id: string; key: string; after: unknown; from: number; to: number; time: boolean }

type Allowed = Record<string, Record<string, unknown>>
const KEYS = Object.keys(FEATURES)
const PLANS = 3
const iso = (ms: number) => new Date(ms).toISOString()

/**
 * Random acts in a project, in worlds that have consumers and customers of their own, beside a catalog and settings that all share. What
 * each act made different is noted, by a check of everybody it may concern.
 */
export async function historyOf(world: WatchWorld, seed: number, worlds: number) {
  const random = randomFrom(seed)
  const int = (n: number) => Math.floor(random() * n)
  const pick = <T>(list: readonly T[]) => list[int(list.length)] as T
  const value = (key: string) =>
    key === 'limits' ? { v: int(3) } : key === 'seats' || key === 'credits' ? pick([1, 5, 10, 'unlimited']) : true
  const given = () => {
    const some = KEYS.filter(() => random() < 0.7)
    const perSeat = (key: string) => (key === 'seats' || key === 'credits') && random() < 0.5
    return Object.fromEntries(some.map((key) => [key, { value: value(key), per_seat: perSeat(key) }]))
  }
  /** The world of each consumer that there ever was. */
  const consumers = new Map<string, number>()
  const differences: Difference[] = []
  const grants: string[] = []
  let known: Allowed = {}

  async function checked(ids: readonly string[]): Promise<Allowed> {
    const found: Allowed = {}
    for (let i = 0; i < ids.length; i += 100) {
      const json = { consumers: ids.slice(i, i + 100), features: KEYS }
      const { data } = await world.must('POST', 'billing/entitlements/check', json)
      for (const { consumer, features } of data as unknown as { consumer: string; features: Record<string, Shown> }[]) {
        const allowed = Object.entries(features).filter(([, one]) => one.allowed)
        found[consumer] = Object.fromEntries(allowed.map(([key, one]) => [key, one.value]))
      }
    }
    return found
  }

  const ext = (of: number, n = int(3)) => `w${of}-u${n}`
  const customer = (of: number) => `cus_${of}_${int(2)}`
  async function subscribe(of: number) {
    const start = Date.now() - int(40) * DAY
    const items = Object.fromEntries(Array.from({ length: 1 + int(2) }, () => [`price_${int(PLANS)}`, 1 + int(3)]))
    const status = pick(['active', 'active', 'trialing', 'past_due', 'past_due', 'canceled', 'unpaid', 'paused'])
    const more = { status, ...(random() < 0.2 && { cancel_at: Math.floor((Date.now() + int(9) * DAY) / 1000) }) }
    const made = subscription(`sub_${of}_${int(3)}`, customer(of), items, start + 30 * DAY, more)
    await world.happens('customer.subscription.updated', made)
  }
  async function put(of: number, n?: number) {
    const { status, body } = await world.ask('PUT', `consumers/ext:${ext(of, n)}`, {})
    if (status < 300) consumers.set(body.id, consumers.get(body.id) ?? of)
  }
  async function grant(of: number) {
    const kind = pick(['allow', 'allow', 'deny', 'plan'])
    const key = pick(KEYS)
    const feature = { feature: key, effect: kind, ...(kind === 'allow' && { value: value(key) }) }
    const what = kind === 'plan' ? { plan: `p${int(PLANS)}`, effect: 'allow' } : feature
    const { status, body } = await world.ask('POST', 'billing/grants', {
      consumer: `ext:${ext(of)}`,
      ...what,
      ...(random() < 0.3 && { starts_at: iso(Date.now() + int(9) * DAY + HOUR) }),
      ...(random() < 0.6 && { expires_at: iso(Date.now() + (10 + int(9)) * DAY) }),
    })
    if (status < 300) grants.push(body.id)
  }
  /** Acts in one world. */
  const own: Record<string, (of: number) => Promise<unknown>> = {
    subscribe,
    put,
    grant,
    claims: (of) =>
      world.happens('customer.updated', {
        id: customer(of),
        object: 'customer',
        metadata: { consumer_external_id: ext(of) },
      }),
    rename: (of) => world.ask('PATCH', `consumers/ext:${ext(of)}`, { external_id: ext(of, int(5)) }),
    block: (of) => world.ask('POST', `consumers/ext:${ext(of)}/${random() < 0.4 ? 'block' : 'unblock'}`, {}),
    merge: (of) => world.ask('POST', `consumers/ext:${ext(of)}/merge`, { into: `ext:${ext(of)}` }),
    erase: (of) => world.ask('DELETE', `consumers/ext:${ext(of)}`),
    pin: (of) =>
      world.ask('PUT', `billing/customers/stripe/${customer(of)}`, {
        consumer: random() < 0.2 ? null : `ext:${ext(of)}`,
      }),
    unpin: (of) => world.ask('DELETE', `billing/customers/stripe/${customer(of)}/pin`),
    revoke: async () => grants.length > 0 && world.ask('DELETE', `billing/grants/${pick(grants)}`),
  }
  /** Acts that concern all worlds. */
  const common: Record<string, () => Promise<unknown>> = {
    plan: () => {
      const i = int(PLANS)
      const refs = [`price_${i}`, ...(i === 0 && random() < 0.5 ? [`price_${PLANS}`] : [])]
      const prices = refs.map((ref) => ({ vendor: 'stripe', ref }))
      return world.ask('PATCH', `billing/plans/${world.plans[i]}`, { features: given(), rank: int(3), prices })
    },
    combine: () =>
      world.ask('PUT', 'billing/features/credits', {
        name: 'credits',
        type: 'quantity',
        combine: pick(['sum', 'max']),
      }),
    settings: () =>
      world.set({
        grace_days: pick([0, 3, 7, 60]),
        renewal_slack_hours: pick([0, 48]),
        test_mode_counts: random() < 0.3,
      }),
    time: async () => advance(pick([HOUR, DAY, 5 * DAY])),
  }
  const ofOne =
    'subscribe subscribe subscribe subscribe claims claims put rename block merge pin pin unpin grant grant grant revoke'.split(
      ' ',
    )

  /** Does one random act, and notes what it has made different. */
  async function act(): Promise<void> {
    const isCommon = random() < 0.25
    const name = isCommon
      ? pick(['plan', 'combine', 'settings', 'time', 'time', 'time'])
      : random() < 0.03
        ? 'erase'
        : pick(ofOne)
    const of = int(worlds)
    const before = await headOf(world.project)
    await (isCommon ? common[name]?.() : own[name]?.(of))
    await world.timed()
    const to = await headOf(world.project)
    // A revoked grant may be of any world.
    const all = isCommon || name === 'revoke'
    const ids = [...consumers].filter(([, at]) => all || at === of).map(([id]) => id)
    note(await checked(ids), { from: before, to, time: name === 'time' })
  }
  function note(found: Allowed, of: Pick<Difference, 'from' | 'to' | 'time'>) {
    for (const [id, features] of Object.entries(found)) {
      for (const key of KEYS) {
        if (same(features[key], known[id]?.[key])) continue
        differences.push({ id, key, after: features[key] ?? null, ...of })
      }
      known[id] = features
    }
  }

  await world.sell(...Array.from({ length: PLANS }, given))
  for (let of = 0; of < worlds; of++) {
    await put(of, 0)
    await put(of, 1)
    for (const n of [0, 1]) {
      await world.ask('PUT', `billing/customers/stripe/cus_${of}_${n}`, { consumer: `ext:${ext(of, n)}` })
    }
    await subscribe(of)
  }
  return {
    random,
    int,
    act,
    differences,
    /** What everybody is allowed now. */
    now: async () => {
      known = await checked([...consumers.keys()])
      return known
    },
  }
}

type Shown = { allowed: boolean; value: unknown }

export function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null)
}

async function headOf(project: string): Promise<number> {
  const [row] = await rows<{ n: number }>('SELECT max(seq) AS n FROM changes WHERE project_id = ?', project)
  return row?.n ?? 0
}
