"""The matrix's rows about classes."""

from matrix import Ask


def teacher(server):
    """The same one each time."""
    if not getattr(server, "teacher", None):
        server.teacher = server.account()
        server.post(f"/api/accounts/{server.teacher}/roles", {"roles": "teacher"}, "operator")
    return server.teacher


def shared(server):
    """A class with one pupil: whose it is, its id, and the pupil's account."""
    if not getattr(server, "shared_class", None):
        server.shared_class = new_class(server)
    return server.shared_class


def new_class(server):
    name = teacher(server)
    made = server.post("/api/classes", {"name": "5b"}, name)["class_id"]
    pupil = server.post(f"/api/classes/{made}/pupils", {"names": ["Anna"]}, name)["pupils"][0]["account"]
    return name, made, pupil


def of_class(body=None):
    def ask(server):
        name, made, _ = shared(server)
        return Ask(name, body, class_id=made)
    return ask


def of_pupil(server):
    name, made, pupil = shared(server)
    return Ask(name, class_id=made, account=pupil)


def class_to_delete(server):
    name, made, _ = new_class(server)
    return Ask(name, class_id=made)


def pupil_to_remove(server):
    name, made, pupil = new_class(server)
    return Ask(name, class_id=made, account=pupil)


def one_too_many(server):
    name = server.account()
    server.post(f"/api/accounts/{name}/roles", {"roles": "teacher"}, "operator")
    for number in range(100):
        server.post("/api/classes", {"name": f"class {number}"}, name)
    return Ask(name, {"name": "one more"})


GOOD = {
    "POST /api/classes": lambda server: Ask(teacher(server), {"name": "5b"}),
    "GET /api/classes": lambda server: Ask(teacher(server)),
    "GET /api/classes/{class_id}": of_class(),
    "DELETE /api/classes/{class_id}": class_to_delete,
    "POST /api/classes/{class_id}/pupils": of_class({"names": ["Bert"]}),
    "DELETE /api/classes/{class_id}/pupils/{account}": pupil_to_remove,
    "POST /api/classes/{class_id}/pupils/{account}/code": of_pupil,
    "POST /api/classes/{class_id}/handout": of_class({"title": "Our town"}),
    "GET /api/classes/{class_id}/places": of_class(),
    "PUT /api/classes/{class_id}/chat": of_class({"rule": "phrases"}),
    "POST /api/classes/{class_id}/pause": of_class(),
    "POST /api/classes/{class_id}/resume": of_class(),
}

CONFLICT = {
    "POST /api/classes": one_too_many,
    "DELETE /api/classes/{class_id}": "once it is gone, it is not found",
    "POST /api/classes/{class_id}/pupils": of_class({"names": [f"Kid {number}" for number in range(251)]}),
    "DELETE /api/classes/{class_id}/pupils/{account}": "once they are out, they are not found",
    "POST /api/classes/{class_id}/pupils/{account}/code": "each one takes the place of the last",
    "POST /api/classes/{class_id}/handout": "again it goes to those who do not have it",
    "PUT /api/classes/{class_id}/chat": "the last rule holds",
    "POST /api/classes/{class_id}/pause": "pausing twice is pausing once",
    "POST /api/classes/{class_id}/resume": "going on twice is going on once",
}
