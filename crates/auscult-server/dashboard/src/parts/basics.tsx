// Small parts that many pages use.

import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { Problem, type Time, get } from "../api";
import { exactly, iso, toMs, when } from "../format";
import { returns, say, useStore } from "../store";
import { t } from "../texts";

/** A moment, with the exact one on hover and for programs. */
export const Moment = ({ time }: { time: Time }) => (
  <time dateTime={iso(toMs(time))} title={exactly(time)}>
    {when(time)}
  </time>
);

export const Card = ({
  title,
  children,
  aside,
  class: extra,
  id,
}: {
  title?: string;
  children: ComponentChildren;
  aside?: ComponentChildren;
  class?: string;
  id?: string;
}) => (
  <section
    class={`card ${extra ?? ""}`}
    aria-labelledby={title && id ? id : undefined}
    aria-label={title && !id ? title : undefined}
  >
    {title && (
      <header class="card-head">
        <h2 id={id}>{title}</h2>
        {aside}
      </header>
    )}
    {children}
  </section>
);

export const Facts = ({ rows }: { rows: ([string, ComponentChildren] | null | undefined | false | "")[] }) => (
  <dl class="facts">
    {rows
      .filter((row) => !!row)
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
);

export function Failure({ error, retry }: { error: Error; retry?: () => void }) {
  return (
    <div class="failure" role="alert">
      <strong>{t.problem}</strong>
      <p>{error.message}</p>
      {retry && (
        <button type="button" onClick={retry}>
          {t.retry}
        </button>
      )}
    </div>
  );
}

/** Something to choose one of, as a row of buttons. */
export function Segments<T extends string | number>({
  label,
  options,
  value,
  choose,
}: {
  label: string;
  options: [T, string][];
  value: T;
  choose: (value: T) => void;
}) {
  return (
    <div class="segments" role="group" aria-label={label}>
      {options.map(([key, text]) => (
        <button type="button" key={key} aria-pressed={key === value} onClick={() => choose(key)}>
          {text}
        </button>
      ))}
    </div>
  );
}

/** A table that scrolls by itself where it is too wide. */
export const Table = ({
  columns,
  children,
  class: extra,
  label,
}: {
  columns: string[];
  children: ComponentChildren;
  class?: string;
  label?: string;
}) => (
  <div class={`scroll ${extra ?? ""}`} tabIndex={0} role={label ? "region" : undefined} aria-label={label}>
    <table>
      <thead>
        <tr>
          {columns.map((text) => (
            <th scope="col" key={text}>
              {text}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
);

/** What can be chosen in a `select`: values and their texts. */
export const Options = ({ of, chosen }: { of: [string | number, string][]; chosen?: string }) => (
  <>
    {of.map(([value, text]) => (
      <option key={value} value={value} selected={value === chosen || undefined}>
        {text}
      </option>
    ))}
  </>
);

/** A form that the page itself sends. */
export const Form = ({
  send,
  children,
  class: extra,
}: {
  send: (form: HTMLFormElement) => void;
  children: ComponentChildren;
  class?: string;
}) => (
  <form
    class={extra}
    onSubmit={(event) => {
      event.preventDefault();
      send(event.currentTarget);
    }}
  >
    {children}
  </form>
);

/** Whoever uses the keyboard goes on where they were, or at the beginning of the page if that is gone. */
function giveBack(opener: Element | null) {
  if (document.activeElement !== document.body) return;
  if (opener instanceof HTMLElement) opener.focus();
  if (document.activeElement === document.body) document.getElementById("main")?.focus();
}

/** A dialog of the browser: focus stays in it, Escape closes it. */
export function Dialog({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    return () => requestAnimationFrame(() => requestAnimationFrame(() => giveBack(opener)));
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-label={title}
      onClose={close}
      onClick={(click) => {
        if (click.target === dialog.current) close();
      }}
    >
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}

/** Asks before something is done. */
export function Confirm({
  title,
  text,
  yes,
  act,
  close,
}: {
  title: string;
  text?: string;
  yes?: string;
  act: () => Promise<void>;
  close: () => void;
}) {
  const [run, busy] = useAction();
  return (
    <Dialog title={title} close={close}>
      {text && <p>{text}</p>}
      <div class="buttons">
        <button
          type="button"
          class="primary"
          disabled={busy}
          onClick={() =>
            run(async () => {
              await act();
              close();
            })
          }
        >
          {yes ?? t.actions.yes}
        </button>
        <button type="button" onClick={close}>
          {t.cancel}
        </button>
      </div>
    </Dialog>
  );
}

export interface Loaded<T> {
  value: T | null;
  error: Error | null;
  reload: () => void;
}

/** Something of the service, asked for again when `path` or `again` changes; the old value stays until then. */
export function useLoaded<T>(path: string | null, again: unknown = 0): Loaded<T> {
  const [state, set] = useState<{ path: string | null; value: T | null; error: Error | null }>({
    path,
    value: null,
    error: null,
  });
  const [count, recount] = useState(0);
  const back = useStore(returns);
  useEffect(() => {
    if (path === null) return undefined;
    const abort = new AbortController();
    get<T>(path, abort.signal).then(
      (value) => {
        if (!abort.signal.aborted) set({ path, value, error: null });
      },
      (error: Error) => {
        if (abort.signal.aborted || error.name === "AbortError") return;
        // While the service is away the page shows what it knew; the banner says so.
        set((before) =>
          error instanceof Problem && error.status === 0 && before.value !== null && before.path === path
            ? before
            : { path, value: null, error },
        );
      },
    );
    return () => abort.abort();
  }, [path, again, count, back]);
  const reload = useCallback(() => recount((before) => before + 1), []);
  return { value: state.value, error: state.error, reload };
}

/** Runs something once at a time, and says what went wrong. */
export function useAction(): [(act: () => Promise<void>) => Promise<void>, boolean] {
  const [busy, set] = useState(false);
  const run = async (act: () => Promise<void>) => {
    set(true);
    try {
      await act();
    } catch (error) {
      say((error as Error).message, true);
    } finally {
      set(false);
    }
  };
  return [run, busy];
}

/** Changes at most every `ms`, so that what depends on it is not asked for too often. */
export function useThrottled<T>(value: T, ms: number): T {
  const [shown, show] = useState(value);
  const last = useRef(0);
  useEffect(() => {
    const wait = Math.max(0, last.current + ms - Date.now());
    const timer = setTimeout(() => {
      last.current = Date.now();
      show(value);
    }, wait);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return shown;
}

/** Redraws now and then, so that "two minutes ago" stays true. */
export function useTick(ms: number): void {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), ms);
    return () => clearInterval(timer);
  }, [ms]);
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · ${t.product}`;
  }, [title]);
}
