import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { command } from '../../scripts/lib/command.ts'
import { ROOT } from '../../scripts/lib/paths.ts'
import { localSession } from '../../scripts/lib/sign-in.ts'
import { allBlocks } from './guide-blocks.ts'
import { newProject } from './new-project.ts'

/** The guides whose code is a program, and the file of each program. */
const GUIDE = join(ROOT, 'docs/guides/integrate.md')
export const SSO_GUIDE = join(ROOT, 'docs/guides/sso-customers.md')
const GUIDE_PROGRAM = 'integrate.ts'
const SSO_PROGRAM = 'sso.ts'
const README_PROGRAM = 'first.ts'
export const GUIDE_PROGRAMS = [GUIDE_PROGRAM, SSO_PROGRAM, README_PROGRAM]

/** The code of a page in one language: its blocks, one after the other. @throws if there is none */
export function codeOf(page: string, language: string): string {
  return blocksOf(page, language).join('\n')
}

/** The blocks of code of a page in one language. @throws if there is none */
export function blocksOf(page: string, language: string): string[] {
  const blocks = allBlocks(page).flatMap((block) => (block.language === language ? [block.code] : []))
  if (blocks.length === 0) throw new Error(`the page has no ${language}`)
  return blocks
}

/** Puts the programs of the guides into a folder. */
export function writeGuides(folder: string): void {
  writeFileSync(join(folder, GUIDE_PROGRAM), codeOf(readFileSync(GUIDE, 'utf8'), 'ts'))
  writeFileSync(join(folder, SSO_PROGRAM), codeOf(readFileSync(SSO_GUIDE, 'utf8'), 'ts'))
  const first = codeOf(readFileSync(join(ROOT, 'README.md'), 'utf8'), 'ts')
  writeFileSync(join(folder, README_PROGRAM), `${first}\nconsole.log('allowed:', allowed)\n`)
}

/**
 * Runs the program of the first guide, and that of the README, in a new project, with a key as docs/start/first-hour.md mints it.
 *
 * @throws if one prints something else than its page says
 */
export async function runGuide(url: string, folder: string): Promise<string> {
  const { token } = await localSession(url)
  const { project, key } = await newProject(url, token, 'Guide')
  const env = { API_URL: url, API_KEY: key, PROJECT_ID: project }
  const said = await command(process.execPath, [GUIDE_PROGRAM], { cwd: folder, env })
  const expected = codeOf(readFileSync(GUIDE, 'utf8'), 'text')
  if (!said.includes(expected.trim())) throw new Error(`the guide says\n${expected}\nand its program said\n${said}`)
  const readme = join(folder, README_PROGRAM)
  writeFileSync(readme, readFileSync(readme, 'utf8').replace('http://localhost:8787', url))
  const first = await command(process.execPath, [README_PROGRAM], { cwd: folder, env })
  if (!first.includes('allowed: false')) throw new Error(`the program of the README said\n${first}`)
  return `the guide's program printed its ${expected.trim().split('\n').length} lines`
}
