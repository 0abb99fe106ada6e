import { expect, it } from 'vitest'
import { ROOMS } from './sources'

const PAGES = import.meta.glob<string>(['../*.md', '../docs/*.md', '../bench/*.md', '../client/*.md'], {
  query: '?raw',
  import: 'default',
  eager: true,
})
const FILES = Object.keys(import.meta.glob(['../{src,test,scripts,bench,client}/**', '!**/node_modules/**'])).map(
  (path) => (path.startsWith('./') ? path.replace('./', 'test/') : path.replace('../', '')),
)
/** What the globs do not find: what a command writes, and Vite's own configuration. */
const ELSEWHERE = ['bench/bench.json', 'vitest.config.ts']
/** Files that join the rooms. */
const ENTRIES = ['app', 'index']

it('names only files and folders that are there', () => {
  const named = Object.entries(PAGES).flatMap(([page, text]) =>
    [...text.matchAll(/`((?:src|test|scripts|bench|client)\/[\w./-]+)`/g)].map(([, path = '']) => ({ page, path })),
  )
  expect(named.length).toBeGreaterThan(50)
  const isThere = (path: string) =>
    ELSEWHERE.includes(path) || FILES.some((file) => file === path || file.startsWith(`${path.replace(/\/$/, '')}/`))
  expect(named.filter(({ path }) => !isThere(path)).map(({ page, path }) => `${page}: ${path}`)).toEqual([])
})

it('names only code that is there, by the end of its path too', () => {
  const named = Object.entries(PAGES).flatMap(([page, text]) =>
    [...text.matchAll(/`([\w./-]+\.tsx?)`/g)].map(([, path = '']) => ({ page, path })),
  )
  expect(named.length).toBeGreaterThan(100)
  const isThere = (path: string) => [...FILES, ...ELSEWHERE].some((file) => `/${file}`.endsWith(`/${path}`))
  expect(named.filter(({ path }) => !isThere(path)).map(({ page, path }) => `${page}: ${path}`)).toEqual([])
})

it('shows the rooms in their order, from the highest to the lowest, and says what each one does', () => {
  const text = PAGES['../docs/architecture.md'] ?? ''
  const rows = [...text.matchAll(/^ {4}([\w-]+(?: --- [\w-]+)*)$/gm)].flatMap(([, row = '']) => row.split(' --- '))
  expect(rows.toReversed()).toEqual(ROOMS)
  const [, table = ''] = /^\| room \|.*?\n(.*?)\n\n/ms.exec(text) ?? []
  const said = [...table.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([\w-]+)`/g)].map(([, room]) => room),
  )
  expect(said.toSorted()).toEqual(ROOMS.filter((room) => !ENTRIES.includes(room)).toSorted())
})

it('links only to pages and headings that are there', () => {
  const anchorsOf = (text: string) =>
    [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    )
  const dead = Object.entries(PAGES).flatMap(([page, text]) =>
    [...text.matchAll(/\]\(([^)\s:]*?\.md)?(#[^)\s]+)?\)/g)].flatMap(([link, file, anchor]) => {
      if (file === undefined && anchor === undefined) return []
      const folder = page.split('/').slice(0, -1).join('/')
      const target = file === undefined ? page : resolve(folder, file)
      const found = PAGES[target]
      if (found === undefined) return [`${page}: ${link}`]
      return anchor === undefined || anchorsOf(found).includes(anchor.slice(1)) ? [] : [`${page}: ${link}`]
    }),
  )
  expect(dead).toEqual([])
})

function resolve(folder: string, name: string): string {
  const parts = folder.split('/')
  for (const step of name.split('/')) {
    if (step === '..' && parts.at(-1) !== '..') parts.pop()
    else if (step !== '.') parts.push(step)
  }
  return parts.join('/')
}
