// Adds copy buttons, confirmation dialogs and live updates to the console. Every page works without this script.

/** Announces a text to screen readers. */
function say(text) {
  document.getElementById('said').textContent = text
}

// Copy buttons do not work without this script, so they are hidden until it runs.
function showCopyButtons() {
  for (const button of document.querySelectorAll('[data-copy]')) button.hidden = false
}

/** What to do if the browser does not let the script copy. */
const PRESS_COPY = /Mac|iP/.test(navigator.platform) ? 'Press ⌘C' : 'Press Ctrl+C'

async function copy(button) {
  const label = button.innerHTML
  const text = document.getElementById(button.dataset.copy).textContent
  try {
    await navigator.clipboard.writeText(text)
    document.dispatchEvent(new CustomEvent('copied', { detail: text }))
    button.textContent = 'Copied'
    say('Copied')
  } catch {
    getSelection().selectAllChildren(document.getElementById(button.dataset.copy))
    button.textContent = PRESS_COPY
  }
  setTimeout(() => {
    button.innerHTML = label
  }, 2000)
}

/**
 * Shows the content of a confirmation page in a dialog. The form works as it does on the page.
 *
 * @param otherwise what to do if the answer is no such page
 */
async function openDialog(path, request, otherwise) {
  const dialog = document.getElementById('dialog')
  const answer = await fetch(path, { ...request, headers: { 'HX-Request': 'true' } })
  const question = new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById('confirm')
  if (!answer.ok || !question) return otherwise()
  dialog.replaceChildren(question)
  dialog.showModal()
}

document.addEventListener('click', (event) => {
  const target = event.target.closest('[data-copy], [data-dialog], [data-close]')
  for (const menu of document.querySelectorAll('.menu[open]')) if (!menu.contains(event.target)) menu.open = false
  if (!target || event.ctrlKey || event.metaKey || event.shiftKey) return
  if (target.dataset.copy) copy(target)
  else if (target.hasAttribute('data-dialog')) {
    event.preventDefault()
    openDialog(target.href, {}, () => location.assign(target.href))
  } else if (target.closest('dialog')) {
    event.preventDefault()
    target.closest('dialog').close()
  }
})
// A lower role is confirmed first: the server answers the form with a question, and changes nothing.
document.addEventListener('submit', (event) => {
  const form = event.target
  if (!form.querySelector('[data-lower]:checked')) return
  event.preventDefault()
  openDialog(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form)) }, () => form.submit())
})
// Offline, a form stays as it is filled in: the browser would show its own error page instead. A button that was pressed says that it waits.
document.addEventListener('submit', (event) => {
  if (navigator.onLine) {
    setTimeout(() => {
      if (!event.defaultPrevented) event.submitter?.setAttribute('aria-busy', 'true')
    })
    return
  }
  event.preventDefault()
  event.stopImmediatePropagation()
  const note = document.getElementById('stale')
  note.textContent = 'You are offline, and nothing was sent. Try again when you are online.'
  note.hidden = false
})
addEventListener('pageshow', () => {
  for (const button of document.querySelectorAll('[aria-busy]')) button.removeAttribute('aria-busy')
})
// The theme changes in place: the page may hold a secret that is shown once, or a form that is half filled in.
document.addEventListener('submit', async (event) => {
  const { target: form, submitter } = event
  if (submitter?.name !== 'theme') return
  event.preventDefault()
  const body = new URLSearchParams(new FormData(form, submitter))
  const { type } = await fetch(submitter.formAction, { method: 'POST', body, redirect: 'manual' })
  if (type !== 'opaqueredirect') return location.reload() // The session has ended, or the service has a fault.
  document.documentElement.dataset.theme = submitter.value
  for (const button of form.elements.theme) button.ariaPressed = String(button === submitter)
  say(`Theme: ${submitter.textContent}`)
})
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return
  const menu = document.querySelector('.menu[open]')
  if (!menu) return
  menu.open = false
  menu.querySelector('summary').focus()
})

document.addEventListener('htmx:beforeRequest', (event) => {
  if (document.hidden && event.target.hasAttribute('data-live')) event.preventDefault()
})
// A part that somebody is reading is not replaced.
document.addEventListener('htmx:beforeSwap', (event) => {
  const { target } = event
  if (target.hasAttribute('data-hold') && target.matches(':hover, :focus-within')) event.detail.shouldSwap = false
})
document.addEventListener('htmx:afterSettle', showCopyButtons)

// A part that updates itself says when it cannot, until it can again.
const stale = new Map()

function update(element, reason) {
  // The list of events has its own message.
  if (!element.hasAttribute('data-live') || element.id === 'events') return
  if (reason) stale.set(element.id, reason)
  else stale.delete(element.id)
  const [first] = stale.values()
  const note = document.getElementById('stale')
  const text = first ? `This page is not up to date: ${first}. It will try again.` : ''
  if (note.textContent !== text) note.textContent = text
  note.hidden = !first
}
document.addEventListener('htmx:sendError', (event) => update(event.target, 'the server cannot be reached'))
document.addEventListener('htmx:timeout', (event) => update(event.target, 'the server did not answer'))
document.addEventListener('htmx:responseError', (event) => {
  const { status } = event.detail.xhr
  if (status === 401) return // it leads to the page to sign in
  update(
    event.target,
    status === 429 ? 'your session has sent too many requests' : `the server answered with ${status}`,
  )
})
document.addEventListener('htmx:beforeSwap', (event) => {
  if (event.detail.xhr.status < 400) update(event.target, '')
})

// A click beside the links of a row opens what its first cell leads to.
document.addEventListener('click', ({ target, ctrlKey, metaKey, shiftKey }) => {
  const link = target.closest('.rows tbody tr')?.querySelector(':scope > td:first-child > a[href]')
  if (!link || target.closest('a, button, label, select, details') || !getSelection().isCollapsed) return
  link.dispatchEvent(new MouseEvent('click', { ctrlKey, metaKey, shiftKey, bubbles: true, cancelable: true }))
})

// Rows that are chosen: one box for all of them, and how many they are.
function countChosen(form) {
  const boxes = [...form.querySelectorAll('tbody [name=id]')]
  const { length } = boxes.filter(({ checked }) => checked)
  const all = form.querySelector('[data-all]')
  all.checked = length > 0 && length === boxes.length
  all.indeterminate = length > 0 && !all.checked
  say(`${length} selected`)
}
document.addEventListener('change', ({ target }) => {
  const form = target.closest('.choosing')
  if (!form) return
  if (target.hasAttribute('data-all'))
    for (const box of form.querySelectorAll('tbody [name=id]')) box.checked = target.checked
  countChosen(form)
})
document.addEventListener('reset', ({ target }) => {
  if (target.matches('.choosing')) setTimeout(() => countChosen(target))
})

// A key that is left empty is made from the name: see keyFrom.
document.addEventListener('input', ({ target }) => {
  const key = target.id === 'name' && document.getElementById('key')
  if (!key || key.required) return
  const plain = target.value.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  key.placeholder = plain.replace(/[^a-z0-9]+/g, '_').replace(/^[^a-z]+|_$/g, '')
})

// The icon of the tab shows the status of the pipeline.
document.addEventListener('htmx:afterSettle', () => {
  const { favicon } = document.getElementById('status')?.dataset ?? {}
  const icon = document.querySelector('link[rel=icon]')
  if (favicon && icon.getAttribute('href') !== favicon) icon.href = favicon
})

// The server renders the groups of the sidebar as they were left in this browser. That of the current page is always open.
for (const summary of document.querySelectorAll('.group > summary')) {
  summary.addEventListener('click', () => {
    const { open, dataset } = summary.parentElement // as it was before the click
    const closed = new Set(document.cookie.match(/__Host-closed=([^;]*)/)?.[1].split('.'))
    if (open) closed.add(dataset.group)
    else closed.delete(dataset.group)
    // biome-ignore lint/suspicious/noDocumentCookie: not every browser has the Cookie Store API
    document.cookie = `__Host-closed=${[...closed].join('.')}; Path=/; Secure; SameSite=Lax; Max-Age=34560000`
  })
}

// The sections may be longer than the sidebar is high.
document.querySelector('.sections [aria-current]')?.scrollIntoView({ block: 'nearest' })

// Shows the secret hint of the selected vendor only. Without this script, all hints are shown.
function showHint() {
  const chosen = document.getElementById('vendor')
  if (!chosen) return
  for (const hint of document.querySelectorAll('[data-vendor]')) hint.hidden = hint.dataset.vendor !== chosen.value
}
document.addEventListener('change', showHint)
addEventListener('pageshow', showHint) // after Back, the browser restores the selection

// Whoever is asked to sign in has no session: the other tabs of this browser no longer show what only a session may see.
const ended = new BroadcastChannel('session ended')
ended.addEventListener('message', () => {
  if (document.getElementById('side')) location.replace(location.pathname + location.search)
})
if (/^\/console\/sign-(in|out)$/.test(location.pathname)) ended.postMessage(null)

showCopyButtons()
// Show the message of a redirect once, and not again after a reload.
if (/[?&](done|replayed)=/.test(location.search)) {
  const address = new URL(location.href)
  for (const name of ['done', 'replayed']) address.searchParams.delete(name)
  history.replaceState(null, '', address)
}
