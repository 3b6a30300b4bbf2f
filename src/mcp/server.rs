//! The server: its tools by name, and what a call comes to.

use super::arguments::Wrong;
use super::ceiling::Ceiling;
use super::progress::Caller;
use super::tools::{TOOLS, tools};
use super::transport::RawArguments;
use crate::config::Config;
use crate::error::{Failure, Result, did_you_mean};
use crate::harness::HarnessRegistry;
use crate::jobs::{Jobs, Supervisor};
use crate::request::ReplySchema;
use crate::run::{Cancel, Rehearse};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult,
    ErrorCode, ErrorData, Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::{Mutex, RwLock, Semaphore};

/// Makes the stand-in of a harness, for a reply with this schema.
pub type StandIn = Box<dyn Fn(&str, Option<&ReplySchema>) -> Result<Rehearse> + Send + Sync>;

/// What a server serves from.
pub struct Host {
    /// The harnesses.
    pub registry: HarnessRegistry,
    /// The settings, read once.
    pub config: Config,
    /// What a client may ask for at most.
    pub ceiling: Ceiling,
    /// Where jobs are.
    pub jobs: Jobs,
    /// What runs them.
    pub supervisor: Supervisor,
    /// How many dispatches and reviews run at once; more of them wait.
    pub concurrency: usize,
    /// The stand-in instead of every CLI.
    pub stand_in: Option<StandIn>,
}

/// The answer of a tool.
pub(super) struct Answer {
    pub(super) ok: bool,
    /// For a client that reads text alone.
    pub(super) text: String,
    pub(super) value: Value,
}

impl Answer {
    /// An answer whose text is its JSON.
    pub(super) fn of(value: Value) -> Answer {
        Answer { ok: true, text: value.to_string(), value }
    }

    /// A failure, in words and as data.
    pub(super) fn refused(value: Value, failure: &Failure) -> Answer {
        Answer { ok: false, text: told(failure), value }
    }
}

/// A failure in words: what happened, and the next step.
pub(super) fn told(failure: &Failure) -> String {
    let mut text = format!("{} ({})", failure.message, failure.kind);
    if let Some(hint) = &failure.hint {
        text.push_str(&format!("\nnext: {hint}"));
    }
    if let Some(tail) = &failure.stderr_tail {
        text.push_str(&format!("\nit wrote: {tail}"));
    }
    text
}

pub(super) struct Server {
    pub(super) host: Host,
    tools: Vec<Tool>,
    /// The client is gone, or the server is told to stop.
    pub(super) closing: Cancel,
    /// Held for reading by everything that has processes.
    pub(super) busy: Arc<RwLock<()>>,
    pub(super) slots: Semaphore,
    /// Held while a job is started, so that two do not count the same ones.
    pub(super) starting: Mutex<()>,
}

impl Server {
    /// Errors: a harness of the ceiling that is not there.
    pub(super) fn new(mut host: Host, closing: Cancel) -> Result<Server> {
        let named = std::mem::take(&mut host.ceiling.harnesses);
        let id = |name: &String| host.registry.get(name).map(|builder| builder.facts().id.clone());
        host.ceiling.harnesses = named.iter().map(id).collect::<Result<_>>()?;
        let slots = Semaphore::new(host.concurrency.clamp(1, Semaphore::MAX_PERMITS));
        let tools = tools(&host);
        Ok(Server { host, tools, closing, busy: Arc::default(), slots, starting: Mutex::default() })
    }

    pub(super) fn busy(&self) -> Arc<RwLock<()>> {
        self.busy.clone()
    }

    /// The harness of a call that names none.
    pub(super) fn default_harness(&self) -> Option<String> {
        default_harness(&self.host)
    }

    async fn answer(
        &self,
        tool: &str,
        arguments: &str,
        caller: &Caller,
    ) -> std::result::Result<Answer, Wrong> {
        match tool {
            "list_harnesses" => self.list_harnesses(arguments),
            "lower" => self.lower(arguments),
            "dispatch" => self.dispatch(arguments, caller).await,
            "job_start" => self.job_start(arguments).await,
            "job_status" => self.job_status(arguments).await,
            "job_wait" => self.job_wait(arguments, caller).await,
            "job_result" => self.job_result(arguments).await,
            "job_logs" => self.job_logs(arguments).await,
            "job_cancel" => self.job_cancel(arguments).await,
            "review" => self.review(arguments, caller).await,
            other => {
                let near = did_you_mean(other, TOOLS.iter().copied());
                Err(Wrong::Arguments(Failure::invalid("name", format!("there is no tool `{other}`{near}"))))
            }
        }
    }
}

/// The harness of a call that names none: of the variable, then of the settings.
pub(super) fn default_harness(host: &Host) -> Option<String> {
    var("TEAMSTER_HARNESS").or_else(|| host.config.default_harness.clone())
}

/// A variable of this process that is set and not empty.
pub(super) fn var(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let most = self.host.ceiling.permission.name();
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("teamster", env!("CARGO_PKG_VERSION")))
            .with_instructions(format!(
                "Hands tasks to other coding agents. `list_harnesses` says which there are; `dispatch` waits for the \
                 answer, `job_start` does not. Agents get at most the permission `{most}`, in {} and below it.",
                self.host.ceiling.root().display()
            ))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> std::result::Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> std::result::Result<CallToolResponse, ErrorData> {
        let arguments = match context.extensions.get::<RawArguments>() {
            Some(raw) => raw.0.clone(),
            None => Value::Object(request.arguments.unwrap_or_default()).to_string(),
        };
        tracing::debug!(tool = &*request.name, "called");
        let caller = Caller::of(&context, self.closing.clone());
        let answer = match self.answer(&request.name, &arguments, &caller).await {
            Ok(answer) => answer,
            Err(Wrong::Refused(failure)) => {
                Answer::refused(json!({"ok": false, "failure": failure}), &failure)
            }
            Err(Wrong::Arguments(failure)) => {
                let hint = failure.hint.as_ref().map_or(String::new(), |hint| format!("; {hint}"));
                return Err(ErrorData::invalid_params(
                    format!("{}{hint}", failure.message),
                    Some(json!(failure)),
                ));
            }
        };
        let mut value = answer.value;
        if let Some(members) = value.as_object_mut() {
            members.retain(|_, member| !member.is_null());
        }
        let content = vec![ContentBlock::text(answer.text)];
        let mut result =
            if answer.ok { CallToolResult::success(content) } else { CallToolResult::error(content) };
        result.structured_content = Some(value);
        Ok(result.into())
    }

    /// A call whose arguments are no object comes here.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> std::result::Result<CustomResult, ErrorData> {
        Err(match &*request.method {
            "tools/call" => {
                ErrorData::invalid_params("a call has `name`, a string, and `arguments`, an object", None)
            }
            other => ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                format!("there is no method `{}`", crate::error::cut(other, 80)),
                None,
            ),
        })
    }
}
