import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Manifest } from '../../src/backup/backup.ts'

type Ended = { code: number | null; said: string }
type Npm = (args: string[], env?: Record<string, string>) => Promise<Ended>

/**
 * Backs the running server up, restores the backup into another local database, and exports a project.
 *
 * @param project one with events
 * @throws {Error} if a command does not do that, or does not refuse what it must
 */
export async function backUpAndRestore(npm: Npm, folder: string, project: string): Promise<string> {
  const [to, other] = [join(folder, 'backup'), { LOCAL_STATE_DIR: join(folder, 'restored') }]
  const must = async (args: string[], words: RegExp, { code = 0, env = {} } = {}) => {
    const ended = await npm(['run', ...args], env)
    if (ended.code !== code || !words.test(ended.said))
      throw new Error(`${args.join(' ')}: ${ended.code}\n${ended.said}`)
    return ended.said
  }
  const said = await must(['backup', '--', to], /rows in \d+ objects/)
  await must(['backup', '--', to], /has a complete backup/, { code: 1 })
  await must(['restore', '--', to], /uses this database/, { code: 1 })
  const [first = ''] = readdirSync(to).sort()
  const bytes = readFileSync(join(to, first))
  appendFileSync(join(to, first), 'x')
  await must(['restore', '--', to, '--check'], new RegExp(`${first} has changed`), { code: 1 })
  rmSync(join(to, first))
  await must(['restore', '--', to], new RegExp(`${first} is missing`), { code: 1 })
  writeFileSync(join(to, first), bytes)
  await must(['restore', '--', to], /events are open/, { env: other })
  await must(['restore', '--', to], /has rows: a backup can be restored only into an empty database/, {
    code: 1,
    env: other,
  })
  // Counts and attempts of an event that was open meanwhile are made again.
  await must(['backup', '--', join(folder, 'again')], /rows in \d+ objects/, { env: other })
  for (const table of ['events', 'packed_bodies', 'billing_objects', 'consumers', 'api_keys', 'users', 'audit_log']) {
    const [was, is] = [rowsOf(to, table), rowsOf(join(folder, 'again'), table)]
    if (was === 0 || is !== was) throw new Error(`${was} rows of ${table} became ${is}`)
  }
  const exported = await must(['export', '--', project, join(folder, 'export')], /rows in \d+ objects/)
  const rowsIn = (text: string) => /([\d,]+) rows in/.exec(text)?.[1]
  return `${rowsIn(said)} rows; ${rowsIn(exported)} of one project in its store`
}

/** How many rows of a table a backup has. */
function rowsOf(folder: string, table: string): number {
  const { objects } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest
  return objects.reduce((sum, one) => sum + (one.table === table ? one.rows : 0), 0)
}
