// The frame around every page: navigation, banner, notices, and which page is shown.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { whenLoginIsNeeded } from "./api";
import { clockTime } from "./format";
import { AddPage } from "./pages/add";
import { EventPage } from "./pages/event";
import { HistoryPage } from "./pages/history";
import { LoginPage } from "./pages/login";
import { MachinePage } from "./pages/machine";
import { PlantPage } from "./pages/plant";
import { SettingsPage } from "./pages/settings";
import { SystemPage } from "./pages/system";
import { WaitingPage } from "./pages/waiting";
import { Failure } from "./parts/basics";
import * as icons from "./parts/icons";
import { go, useAddress } from "./router";
import { connection, follow, loadMachines, loadSession, news, notice, session, unfollow, useStore } from "./store";
import { t } from "./texts";

const NAVIGATION: [string, keyof typeof t.shortPages, () => JSX.Element][] = [
  ["/", "plant", icons.Plant],
  ["/waiting", "waiting", icons.Inbox],
  ["/history", "history", icons.Clock],
  ["/system", "system", icons.Gauge],
  ["/settings", "settings", icons.Sliders],
];

/** A name in an address; as it stands if nobody could have written it there. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function page(path: string): JSX.Element {
  const [, first = "", second = ""] = path.split("/");
  const name = decoded(second);
  switch (first) {
    case "":
      return <PlantPage />;
    case "machines":
      return <MachinePage key={name} name={name} />;
    case "events":
      return <EventPage key={name} id={name} />;
    case "add":
      return <AddPage />;
    case "waiting":
      return <WaitingPage />;
    case "history":
      return <HistoryPage />;
    case "settings":
      return <SettingsPage />;
    case "system":
      return <SystemPage />;
    case "login":
      return <LoginPage />;
    default:
      return <NotFound />;
  }
}

const NotFound = () => (
  <div class="empty">
    <h1>{t.notFound}</h1>
    <p>{t.notFoundText}</p>
    <a class="button" href="/">
      {t.toPlant}
    </a>
  </div>
);

export function App() {
  const { path } = useAddress();
  const now = useStore(session);
  const [error, setError] = useState<Error | null>(null);
  const main = useRef<HTMLElement>(null);
  const shown = useRef(path);

  const start = () => {
    setError(null);
    loadSession().catch(setError);
  };
  useEffect(() => {
    whenLoginIsNeeded(() => {
      unfollow();
      const from = location.pathname + location.search;
      if (location.pathname !== "/login") go(`/login?to=${encodeURIComponent(from)}`, true);
    });
    start();
  }, []);

  const user = now?.user?.name ?? null;
  useEffect(() => {
    if (now === null) return;
    if (user === null) {
      if (path !== "/login") go(`/login?to=${encodeURIComponent(path)}`, true);
      return;
    }
    loadMachines().catch(() => {});
    follow();
  }, [user, now === null]);

  // Whoever uses a screen reader or a keyboard begins at the top of the new page.
  useEffect(() => {
    if (shown.current !== path) main.current?.focus({ preventScroll: true });
    shown.current = path;
  }, [path]);

  const active =
    path.startsWith("/machines") || path.startsWith("/add") ? "/" : path.startsWith("/events") ? "/history" : path;
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(click) => {
          click.preventDefault();
          main.current?.focus();
        }}
      >
        {t.skip}
      </a>
      <header class="masthead">
        <a class="brand" href="/">
          <Mark />
          {t.product}
        </a>
        {user !== null && (
          <nav class="tabs" aria-label={t.pages.navigation}>
            {NAVIGATION.map(([to, key, Icon]) => (
              <a key={to} href={to} aria-current={active === to ? "page" : undefined}>
                <Icon />
                <span>{t.shortPages[key]}</span>
              </a>
            ))}
          </nav>
        )}
        <p class="where">
          {!now?.demo && now?.site}
          {now?.user && now.csrf !== null && <> · {now.user.name}</>}
          {now?.demo && (
            <span class="demo" title={t.demo}>
              {t.demoShort}
            </span>
          )}
        </p>
      </header>
      <Banner />
      <main id="main" ref={main} tabIndex={-1}>
        {error ? (
          <Failure error={error} retry={start} />
        ) : now === null ? (
          <p class="loading">{t.loading}</p>
        ) : (
          page(user === null ? "/login" : path)
        )}
      </main>
      <Notice />
      <News />
    </>
  );
}

const Mark = () => (
  <svg viewBox="0 0 24 24" aria-hidden="true">
    <path d="M3 10.500v3M7.500 7.500v9M12 3.500v17M16.500 8v8M21 10.500v3" />
  </svg>
);

function Banner() {
  const { lost, at } = useStore(connection);
  return (
    <div class="banner" role="status" hidden={!lost}>
      {lost && (
        <>
          <span class="pulse" />
          {t.lost} {clockTime(at / 1000)}.
        </>
      )}
    </div>
  );
}

function Notice() {
  const said = useStore(notice);
  return (
    <div class={`notice ${said?.bad ? "bad" : ""}`} role={said?.bad ? "alert" : "status"} hidden={said === null}>
      {said && <span>{said.text}</span>}
      {said?.undo && (
        <button
          type="button"
          onClick={() => {
            notice.set(null);
            said.undo?.();
          }}
        >
          {t.waiting.undo}
        </button>
      )}
      {said && (
        <button type="button" class="quiet" onClick={() => notice.set(null)}>
          {t.close}
        </button>
      )}
    </div>
  );
}

/** Alarms are read out, wherever one is. */
function News() {
  const event = useStore(news);
  const worth =
    event !== null &&
    event.kind === "state" &&
    event.is_announced &&
    (event.to === "alarm" || event.to === "sensor-fault");
  return (
    <p class="hidden" role="status">
      {worth && t.plant.news(event.sentence ?? event.reason)}
    </p>
  );
}
