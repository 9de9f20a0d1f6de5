import { QueryClientProvider } from "@tanstack/react-query";
import { Component, type ReactNode, StrictMode, useState } from "react";
import { Redirect, Route, Router, Switch, useLocation } from "wouter";
import { SourceProvider, makeClient } from "../data/queries";
import type { Source } from "../data/source";
import { Empty } from "../components/feedback/Empty";
import { Shell } from "./Shell";
import { useHashLocation, useHashSearch } from "./hashLocation";
import { SCREENS } from "./routes";

/** The page, over a server or over the file that it is in (there the address is behind the `#`). */
export function App({ source, start = "/runs", places = {} }: { source: Source; start?: string; places?: Readonly<Record<string, string>> | undefined }) {
  const [client] = useState(makeClient);
  const location = source.live ? {} : { hook: useHashLocation, searchHook: useHashSearch };
  return (
    <StrictMode>
      <QueryClientProvider client={client}>
        <SourceProvider value={source}>
          <Router {...location}>
            <Shell places={places}>
              <WorkingScreen>
                <Switch>
                  {SCREENS.filter((screen) => source.live || !screen.live || screen.path in places).map(({ path, Screen }) => (
                    <Route key={path} path={path}>
                      <Screen />
                    </Route>
                  ))}
                  <Route path="/">
                    <Redirect to={start} replace />
                  </Route>
                  <Route path="/login">
                    <Redirect to={start} replace />
                  </Route>
                  <Route>
                    <Empty title="Page not found" does="The list of runs is a good place to start from." to="/runs" toName="All runs" />
                  </Route>
                </Switch>
              </WorkingScreen>
            </Shell>
          </Router>
        </SourceProvider>
      </QueryClientProvider>
    </StrictMode>
  );
}

/** A screen, or why it cannot be shown: an error in a screen must not empty the whole page. */
function WorkingScreen({ children }: { children: ReactNode }) {
  const [path] = useLocation();
  return <ErrorBoundary path={path}>{children}</ErrorBoundary>;
}

/** Show an error of React's rendering, which only a class can catch, until the path changes. */
class ErrorBoundary extends Component<{ path: string; children: ReactNode }, { message: string | null }> {
  override state = { message: null };

  static getDerivedStateFromError(error: unknown) {
    return { message: String(error) };
  }

  override componentDidUpdate(previous: { path: string }) {
    if (previous.path !== this.props.path) this.setState({ message: null });
  }

  override render() {
    const { message } = this.state;
    if (message === null) return this.props.children;
    return <Empty title="This screen cannot be shown" does={`This is a defect of Proctor: ${message}. Reload the page; if the error remains, report it with this address.`} to="/runs" toName="All runs" />;
  }
}
