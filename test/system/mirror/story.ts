import { randomBytes } from 'node:crypto'
import { openDatabase } from '../../../client/mirror/database.ts'
import { must } from '../../../scripts/lib/api.ts'
import { execute } from '../../../scripts/lib/d1.ts'
import { sleep } from '../../../scripts/lib/terminal.ts'
import { compare } from './compare.ts'
import { followerOf } from './follower.ts'
import { historyOf } from './history.ts'
import { watchTables } from './readers.ts'
import type { World } from './world.ts'

const SECOND = 1000
/** How long (ms) it may take until everything is processed and told: a lease of a crash, and two runs of the cron. */
const SETTLE_WITHIN = 10 * 60 * SECOND

export type Story = {
  world: World
  /** The databases, each of a mirror of its own. */
  to: readonly string[]
  seed: number
  /** The history goes on until there are so many changes, kills and expired positions. */
  changes: number
  kills: number
  expired: number
  writers: number
  /** How long (ms) a writer waits between two acts. */
  pause: number
  /** How long (ms) the mirror runs before it is killed, at most. */
  life: number
  /** Kills the server and starts it again. Without it, only the mirror is killed. */
  restartServer?: () => Promise<void>
  say: (line: string) => void
}

type Follower = ReturnType<typeof followerOf>
/** The share of disturbances in which the server is killed too: it takes a minute to start again on a machine with other work. */
const SERVER_TOO = 0.15

/** What has happened. `kills`: of both. */
type Done = Record<'changes' | 'kills' | 'servers' | 'expired' | 'rows' | 'reads', number>

/**
 * Plays a history beside mirrors and readers of their tables, and kills the mirrors and the server on the way. At the end, the
 * tables must equal what the API says.
 *
 * @throws with the first differences
 */
export async function play(story: Story) {
  const { world, to, say } = story
  const followers = to.map((one) => followerOf(world, one))
  const history = historyOf(world, story.seed)
  const done: Done = { changes: 0, kills: 0, servers: 0, expired: 0, rows: 0, reads: 0 }
  let isOver = false
  const writing = Array.from({ length: story.writers }, async () => {
    while (!isOver) {
      await history.act()
      await sleep(story.pause)
    }
  })
  try {
    // What is there before the mirror begins is copied from the lists.
    await sleep(Math.min(story.life, 3 * SECOND))
    await Promise.all(followers.map((one) => one.catchUp()))
    const readers = await Promise.all(to.map(watchTables))
    while (done.changes < story.changes || done.kills < story.kills || done.expired < story.expired) {
      for (const one of followers) one.start()
      await sleep(story.life * (0.1 + 0.9 * Math.random()))
      await disturb(story, followers, done)
      done.changes = (await numberOf(world)) ?? done.changes
      say(
        `  ${done.changes} changes, ${done.kills} kills (${done.servers} of the server), ${done.expired} expired positions`,
      )
    }
    isOver = true
    await Promise.all(writing)
    for (const one of readers) {
      const { reads, broken } = await one.stop()
      if (broken.length > 0) throw new Error(broken.slice(0, 5).join('\n'))
      done.reads += reads
    }
    const counts = await settled(story, followers)
    done.changes = (await numberOf(world)) ?? done.changes
    say(
      `  ${Object.entries(counts)
        .map(([table, n]) => `${n} ${table}`)
        .join(', ')}`,
    )
    done.rows = Object.values(counts).reduce((sum, n) => sum + n, 0)
    return done
  } finally {
    isOver = true
    await Promise.all(followers.map((one) => one.kill()))
  }
}

/** Kills the mirrors, or the server beneath them too, and makes their positions expire. */
async function disturb(story: Story, followers: readonly Follower[], done: Done): Promise<void> {
  for (const one of followers) if (one.hasFailed()) throw new Error(`the mirror has ended:\n${one.said()}`)
  const isServer = story.restartServer !== undefined && Math.random() < SERVER_TOO
  const isSpent = done.changes >= (story.changes * (done.expired + 1)) / (story.expired + 1)
  if (isServer && story.restartServer) {
    await story.restartServer()
    done.servers += 1
  }
  if (isSpent && done.expired < story.expired) {
    const epoch = randomBytes(4).toString('hex')
    await execute('local', `UPDATE changes_epoch SET epoch = '${epoch}'`)
    done.expired += 1
    // It must notice by itself, and begin again.
    await sleep(story.life * Math.random())
  }
  for (const one of followers) await one.kill(Math.random() < 0.8 ? 'SIGKILL' : 'SIGINT')
  done.kills += followers.length + (isServer ? 1 : 0)
}

/** Waits until the mirrors equal the API: until then, events may be open and changes of entitlements not told. */
async function settled(story: Story, followers: readonly Follower[]): Promise<Record<string, number>> {
  for (const until = Date.now() + SETTLE_WITHIN; ; await sleep(5 * SECOND)) {
    await Promise.all(followers.map((one) => one.catchUp()))
    const found = await Promise.all(story.to.map((one) => compareWith(story.world, one)))
    const all = found.flatMap(({ differences }) => differences)
    if (all.length === 0) return found[0]?.counts ?? {}
    const first = all.slice(0, 3).join('\n  ')
    if (Date.now() > until) throw new Error(`${all.length} differences:\n  ${first}`)
    story.say(`  ${all.length} differences so far:\n  ${first}`)
  }
}

async function compareWith(world: World, to: string) {
  const database = await openDatabase(to)
  try {
    return await compare(world, database)
  } finally {
    await database.close()
  }
}

/** The number of the newest change; null if the server does not answer. */
async function numberOf({ url, project, reader }: World): Promise<number | null> {
  const as = { token: reader, project }
  const page = await must<{ next: string }>(`${url}/platform/v1/changes?after=latest`, as).catch(() => null)
  return page && Number(page.next.split('_').at(-1))
}
