import { afterEach } from 'vitest'
import { openPages } from './browser.ts'

/** The most of a page's text that is told, in characters. */
const MOST = 1000

/** Tells what the pages of a failed test show: "a button was not found" does not say what was there in its place. */
afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return
  const shown = openPages().map(async (page) => {
    const text = await page.locator('main, body').first().innerText({ timeout: 5000 }).catch(String)
    return `${page.url()} shows: ${text.slice(0, MOST)}`
  })
  throw new Error((await Promise.all(shown)).join('\n'))
})
