import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './paths.ts'

const FOLDER = join(ROOT, 'drizzle')

/** The migrations of this checkout, the first one first, by the names under which D1 records them. */
export function migrations(): { name: string; statements: string[] }[] {
  return migrationNames().map((name) => ({
    name,
    statements: readFileSync(join(FOLDER, name), 'utf8').split('--> statement-breakpoint'),
  }))
}

/** The name of the newest migration of this checkout. */
export const newestMigration = (): string => migrationNames().at(-1) ?? ''

const migrationNames = () =>
  readdirSync(FOLDER)
    .filter((name) => name.endsWith('.sql'))
    .sort()
