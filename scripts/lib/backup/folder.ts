import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Manifest, Standing } from '../../../src/backup/backup.ts'
import type { Listed } from '../../../src/backup/object.ts'
import { fail } from '../terminal.ts'
import { type Bound, type Opened, openDatabase } from './open.ts'
import type { EndOfBackup, RestoreAnswer, StepAnswer } from './worker.ts'

const MANIFEST = 'manifest.json'
/** How far a backup that was stopped has got. */
const STANDING = 'standing.json'
const EVERY = 2000

type Kept = { standing: Standing; objects: Listed[]; store: number; project_id: string | null }

/** What is copied: the store, or one project of it. */
export type What = { store: number; project_id: string | null }

/** Copies a database into a folder, or continues a copy that was stopped. It prints how far it has got. */
export async function backUp(bound: Bound, folder: string, { store, project_id }: What): Promise<Manifest> {
  mkdirSync(folder, { recursive: true })
  if (existsSync(join(folder, MANIFEST))) fail(`${folder} has a complete backup. Use another folder.`)
  const kept = read<Kept>(folder, STANDING)
  if (kept === null && readdirSync(folder).length > 0) fail(`${folder} is not empty. Use another folder.`)
  if (kept !== null && (kept.store !== store || kept.project_id !== project_id)) {
    fail(`${folder} has part of another backup. Use another folder.`)
  }
  if (kept !== null) console.log(`Continuing after ${kept.objects.length} objects.`)
  const { ask, close } = await openDatabase(bound)
  const objects = kept?.objects ?? []
  let standing = kept?.standing ?? null
  const report = reporting()
  for (let isDone = false; !isDone; ) {
    const answer = await ask('/backup/step', JSON.stringify({ standing, project_id }))
    const step = JSON.parse(answer.headers.get('X-Step') ?? '{}') as StepAnswer
    if (step.listed !== null) {
      write(folder, step.listed.name, new Uint8Array(await answer.arrayBuffer()))
      objects.push(step.listed)
      // Written after the object, so that a step that was cut off is done again.
      write(folder, STANDING, JSON.stringify({ standing: step.standing, objects, store, project_id } satisfies Kept))
      report(() => `${step.standing.table}: ${sum(objects).toLocaleString('en')} rows in ${objects.length} objects`)
    }
    ;({ standing, isDone } = step)
  }
  if (standing === null) throw new Error('the backup has no end')
  const ended: EndOfBackup = { standing, store, project_id, objects }
  const manifest = (await (await ask('/backup/end', JSON.stringify(ended))).json()) as Manifest
  write(folder, MANIFEST, JSON.stringify(manifest, null, 1))
  rmSync(join(folder, STANDING), { force: true })
  close()
  return manifest
}

/** Reads the manifest of a folder. */
export function manifestIn(folder: string): Manifest {
  const manifest = read<Manifest>(folder, MANIFEST)
  if (manifest !== null) return manifest
  return fail(
    existsSync(join(folder, STANDING))
      ? `The backup in ${folder} is not complete: run npm run backup again with the same folder.`
      : `${folder} has no ${MANIFEST}: it is not a backup, or it is not complete.`,
  )
}

/** Restores the backup of a folder, or continues. */
export async function restore({ ask }: Opened, folder: string, manifest: Manifest) {
  const begun = await ask('/restore/begin', JSON.stringify(manifest))
  const { left } = (await begun.json()) as RestoreAnswer
  const all = manifest.objects.length
  if (left.length < all) console.log(`Continuing after ${all - left.length} of ${all} objects.`)
  const report = reporting()
  for (const [i, { name, table }] of left.entries()) {
    const path = join(folder, name)
    if (!existsSync(path))
      fail(`The object ${name} is missing in ${folder}. It and everything after it were not restored.`)
    await ask('/restore/object', new Uint8Array(readFileSync(path)))
    report(() => `${table}: ${all - left.length + i + 1} of ${all} objects`)
  }
  console.log('Counting events anew …')
  const ended = await ask('/restore/end')
  return (await ended.json()) as { open: number; missing: Record<string, number> }
}

/** Checks that each object is there and is the one that the manifest names. It needs no database. @returns what is wrong */
export function verified(folder: string, { objects }: Manifest): string[] {
  return objects.flatMap(({ name, sha256 }) => {
    const path = join(folder, name)
    if (!existsSync(path)) return [`${name} is missing`]
    return createHash('sha256').update(readFileSync(path)).digest('hex') === sha256 ? [] : [`${name} has changed`]
  })
}

export function sum(objects: readonly Listed[]): number {
  return objects.reduce((rows, one) => rows + one.rows, 0)
}

function read<T>(folder: string, name: string): T | null {
  const path = join(folder, name)
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as T) : null
}

/** Only its owner can read a backup. A file is there as a whole or not at all. */
function write(folder: string, name: string, data: string | Uint8Array): void {
  const path = join(folder, name)
  writeFileSync(`${path}.part`, data, { mode: 0o600 })
  renameSync(`${path}.part`, path)
}

/** Prints a line every two seconds, at most. */
function reporting() {
  let last = Date.now()
  return (line: () => string) => {
    if (Date.now() - last < EVERY) return
    last = Date.now()
    console.log(line())
  }
}
