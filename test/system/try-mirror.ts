import { join } from 'node:path'
import { localSession } from '../../scripts/lib/sign-in.ts'
import { play } from './mirror/story.ts'
import { newWorld } from './mirror/world.ts'

/** Runs npm run mirror beside a short history: npm run try:mirror has a long one, in which the server is killed too. */
export async function tryMirror(url: string, folder: string): Promise<string> {
  const { token } = await localSession(url)
  const { rows, changes, kills, expired, reads } = await play({
    world: await newWorld(url, token),
    to: [join(folder, 'mirror.sqlite')],
    seed: 1,
    changes: 250,
    kills: 4,
    expired: 1,
    writers: 2,
    pause: 100, // the rate limits are those of every deployment
    life: 4000,
    say: () => {},
  })
  return `${rows} rows after ${changes} changes, ${kills} kills and ${expired} expired position, seen by ${reads} reads`
}
