// Adds copy buttons, confirmation dialogs and live updates to the console. Every page works without this script.

/** Announces a text to screen readers. */
function say(text) {
  document.getElementById('said').textContent = text
}

// Copy buttons do not work without this script, so they are hidden until it runs.
function showCopyButtons() {
  for (const button of document.querySelectorAll('[data-copy]')) button.hidden = false
}

async function copy(button) {
  const label = button.innerHTML
  try {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent)
    button.textContent = 'Copied'
    say('Copied')
  } catch {
    getSelection().selectAllChildren(document.getElementById(button.dataset.copy))
    button.textContent = 'Press Ctrl+C'
  }
  setTimeout(() => {
    button.innerHTML = label
  }, 2000)
}

/** Shows the content of a confirmation page in a dialog. The form works as it does on the page. */
async function openDialog(link) {
  const dialog = document.getElementById('dialog')
  const answer = await fetch(link.href, { headers: { 'HX-Request': 'true' } })
  const question = new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById('confirm')
  if (!answer.ok || !question) {
    location.assign(link.href)
    return
  }
  dialog.replaceChildren(question)
  dialog.showModal()
}

document.addEventListener('click', (event) => {
  const target = event.target.closest('[data-copy], [data-dialog], [data-close], [data-show-new]')
  for (const menu of document.querySelectorAll('.menu[open]')) if (!menu.contains(event.target)) menu.open = false
  if (!target || event.ctrlKey || event.metaKey || event.shiftKey) return
  if (target.dataset.copy) copy(target)
  else if (target.hasAttribute('data-show-new')) pollNow()
  else if (target.hasAttribute('data-dialog')) {
    event.preventDefault()
    openDialog(target)
  } else if (target.closest('dialog')) {
    event.preventDefault()
    target.closest('dialog').close()
  }
})
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return
  const menu = document.querySelector('.menu[open]')
  if (!menu) return
  menu.open = false
  menu.querySelector('summary').focus()
})

// Live rows: each poll asks for events newer than the first row, and for status changes of unfinished events.
let asked = false

function pollNow() {
  asked = true
  htmx.trigger('#events', 'poll')
}

/** Whether the user is reading the rows. If so, new rows must not move them. */
function isReading(rows) {
  return scrollY > 120 || rows.matches(':hover') || rows.contains(document.activeElement)
}

document.addEventListener('htmx:beforeRequest', (event) => {
  if (document.hidden && event.target.hasAttribute('data-live')) event.preventDefault()
})
document.addEventListener('htmx:configRequest', (event) => {
  const rows = event.target
  if (rows.id !== 'events') return
  event.detail.parameters.newest = rows.querySelector('tr')?.id ?? ''
  event.detail.parameters.open = [...rows.querySelectorAll('[data-open]')]
    .map((row) => `${row.id}:${row.dataset.open}`)
    .slice(0, 50)
})
document.addEventListener('htmx:beforeSwap', (event) => {
  if (event.target.id !== 'events' || event.detail.xhr.status !== 200) return
  const fresh = Number(event.detail.xhr.getResponseHeader('X-New-Rows'))
  const hold = fresh > 0 && !asked && isReading(event.target)
  const button = document.querySelector('[data-show-new]')
  button.hidden = !hold
  button.textContent = `Show ${fresh} new event${fresh === 1 ? '' : 's'}`
  if (hold) event.detail.shouldSwap = false
  else if (fresh > 0) say(`${fresh} new event${fresh === 1 ? '' : 's'}`)
  asked = false
})
document.addEventListener('htmx:afterSettle', (event) => {
  showCopyButtons()
  if (event.target.id !== 'events') return
  for (const row of [...event.target.querySelectorAll('tr')].slice(100)) row.remove()
  document.getElementById('no-events')?.remove()
})
// Announce when the rate limit pauses live updates.
document.addEventListener('htmx:responseError', (event) => {
  if (event.detail.xhr.status === 429) say('Updates are paused: too many requests.')
})

// Shows the secret hint of the selected vendor only. Without this script, all hints are shown.
function showHint() {
  const chosen = document.getElementById('vendor')
  if (!chosen) return
  for (const hint of document.querySelectorAll('[data-vendor]')) hint.hidden = hint.dataset.vendor !== chosen.value
}
document.addEventListener('change', showHint)
addEventListener('pageshow', showHint) // after Back, the browser restores the selection

showCopyButtons()
// On a narrow screen, scroll to the current tab. Not with scrollIntoView: that moves the starting point of the Tab key.
const tab = document.querySelector('.tabs [aria-current]')
if (tab) tab.parentElement.scrollLeft = tab.offsetLeft - 16
// Show the message of a redirect once, and not again after a reload.
if (new URLSearchParams(location.search).has('done')) {
  const address = new URL(location.href)
  address.searchParams.delete('done')
  history.replaceState(null, '', address)
}
